"""The spot side of an account: wallets, bills and orders."""
