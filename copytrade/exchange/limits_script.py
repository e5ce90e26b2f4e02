"""The limiter's atomic steps in Redis, on Redis's own clock.

KEYS[1] is a pool: a hash with `id` and `born` (which state this is, and since when), `last` (when it last granted),
`blocked` (ms until which nothing goes out), `slow` (ms from which background work comes back by steps), `assumed`
(weight charged for an unknown past, in bucket `assumed_at`), `foreign` and `people` (weight per second that other
programs and interactive calls take on average, decaying since `foreign_at`, `people_at`), `paced` (until when the
pace of background work is used up), `told` (the exchange's last count of the base window and ours since),
`told_at` and `told_of` (when it came, and when its call was granted), `cap:<window>` (the limits) and
`guess:<window>` (the same, worked out from the base window). Beside it: KEYS[1]:<window>, bucket of the call's end
-> weight; KEYS[1]:foreign:<window>, the same of other programs; KEYS[1]:flight, calls under way -> "began:weight";
KEYS[1]:queue, those who wait -> "turn:weight:until:interactive".

A call is counted from its grant until one window after its *answer*. The exchange counts it somewhere between, so
no window of the exchange's, fixed or sliding, ever holds more than ours: a burst that dawdles on its way cannot
meet the next one there.

Background work goes only a little faster than it could go on for ever, not in one burst at the begin of each window:
so its answers tell of other programs all through the window, while there is still room to give way to them.
"""

from .windows import (
    DECAY_MS,
    FLIGHT_MS,
    FULL,
    KEEP_MS,
    LENT,
    LENT_AFTER_MS,
    LENT_BELOW,
    LOOK_AGAIN_MS,
    MEANWHILE_MS,
    PACE,
    PACE_ALLOWS,
    PACE_LEAST,
    RECOVERY_MS,
)

GRACE_MS = 1_000  # who waits and does not come back in time by so much loses the place
JUMP_MS = 2_000  # a clock that is so far from where it should be was set

_NUMBERS = f"""
local FLIGHT, KEEP, GRACE, JUMP = {FLIGHT_MS}, {KEEP_MS}, {GRACE_MS}, {JUMP_MS}
local RECOVERY, DECAY, PACE, ALLOWS, LEAST = {RECOVERY_MS}, {DECAY_MS}, {PACE}, {PACE_ALLOWS}, {PACE_LEAST}
local FULL, LOOK_AGAIN, MEANWHILE = {FULL}, {LOOK_AGAIN_MS}, {MEANWHILE_MS}
local LENT, LENT_AFTER, LENT_BELOW = {LENT}, {LENT_AFTER_MS}, {LENT_BELOW}
"""

_COMMON = (
    _NUMBERS
    + """
local pool = KEYS[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local base = tonumber(ARGV[3])

local function get(name) return tonumber(redis.call('HGET', pool, name) or '0') end
local function set(name, value) redis.call('HSET', pool, name, string.format('%.17g', value)) end

-- As in windows.py: fine for short windows, where one bucket is a thousandth of the limit.
local function size(window)
  if window <= 60000 then return math.max(1, math.floor(window / 1000)) end
  return math.max(1, math.floor(window / 50))
end

local function add(window, weight, at, whose)
  if weight == 0 then return end
  local key = pool .. (whose or ':') .. window
  redis.call('HINCRBY', key, math.floor(at / size(window)), weight)
  redis.call('PEXPIRE', key, window + KEEP + 2 * size(window))
end

local function caps()
  local found, guessed = {}, {}
  local all = redis.call('HGETALL', pool)
  for i = 1, #all, 2 do
    local kind, window = string.match(all[i], '^(%a+):(%d+)$')
    if kind == 'cap' then found[tonumber(window)] = tonumber(all[i + 1]) end
    if kind == 'guess' then guessed[tonumber(window)] = tonumber(all[i + 1]) end
  end
  for window, cap in pairs(guessed) do
    if not found[window] then found[window] = cap end
  end
  return found
end

-- Calls under way; one that nobody ended in time is put among the ended.
local function flights(limits)
  local sum, all = 0, redis.call('HGETALL', pool .. ':flight')
  for i = 1, #all, 2 do
    local at, weight = string.match(all[i + 1], '^(%d+):(%d+)$')
    if tonumber(at) + FLIGHT <= now then
      redis.call('HDEL', pool .. ':flight', all[i])
      for window, _ in pairs(limits) do add(window, tonumber(weight), tonumber(at) + FLIGHT) end
    else
      sum = sum + tonumber(weight)
    end
  end
  return sum
end

-- The weight of calls that ended in the window before `since`, or later; and the buckets that still count now.
local function ended(window, since, whose)
  local sum, live, key = 0, {}, pool .. (whose or ':') .. window
  local all = redis.call('HGETALL', key)
  for i = 1, #all, 2 do
    local bucket, weight = tonumber(all[i]), tonumber(all[i + 1])
    local leaves = (bucket + 1) * size(window) + window
    if leaves > since then sum = sum + weight end
    if leaves > now then
      live[#live + 1] = {leaves, weight}
    elseif leaves + KEEP <= now then
      redis.call('HDEL', key, all[i])
    end
  end
  return sum, live
end

local function block(until_ms)
  if until_ms > get('blocked') then set('blocked', until_ms) end
end

-- The share of its share that background work may use: all, but for the minute after a 429.
local function recovered()
  local since = now - get('slow')
  if since >= RECOVERY then return 1 end
  if since >= RECOVERY / 2 then return 0.5 end
  return 0.25
end

-- A weight per second: what came lately counts most. `more` is added to it.
local function average(name, more)
  local rate = get(name) * math.exp(math.min(0, get(name .. '_at') - now) / DECAY)
  if more > 0 then
    rate = rate + more * 1000 / DECAY
    set(name, rate)
    set(name .. '_at', now)
  end
  return rate
end

-- What other programs use of a window: as told, and no less than what they use on average.
local function foreign_use(window, cap)
  local sum, live = ended(window, now, ':foreign:')
  local usual = math.floor(math.min(cap, average('foreign', 0) * window / 1000))
  if usual > sum then return usual, {} end
  return sum, live
end

-- Background's share: with a part of the reserve while nobody else calls. The rest is there for the first person who
-- does, and what was lent comes back before the next background call.
local function lent(share)
  local known = now - math.max(get('born'), get('people_at')) > LENT_AFTER
  local alone = known and average('foreign', 0) < LENT_BELOW and recovered() == 1
  if alone then return share + (1 - share) * LENT end
  return share
end

-- Weight per second that the limits allow, and what of it background work can count on.
local function usable(limits, share)
  local rate = nil
  for window, cap in pairs(limits) do
    local one = cap * 1000 / window
    if rate == nil or one < rate then rate = one end
  end
  return math.max(0, rate * share * recovered() - average('foreign', 0) - average('people', 0)), rate
end

-- The clock was set, or Redis came back with an older state: what it holds says nothing of the last window.
local function is_astray(id)
  local seen, elapsed = tonumber(ARGV[5]), tonumber(ARGV[6])
  if seen == 0 or ARGV[1] ~= id then return false end
  return math.abs(now - seen - elapsed) > JUMP + elapsed / 1000 or get('last') < seen
end

local function forget()
  for window, _ in pairs(caps()) do
    redis.call('DEL', pool .. ':' .. window, pool .. ':foreign:' .. window)
  end
  redis.call('DEL', pool .. ':flight', pool .. ':queue')
  redis.call('HDEL', pool, 'blocked', 'slow', 'assumed', 'assumed_at', 'foreign', 'people', 'people_at', 'paced')
  redis.call('HDEL', pool, 'last', 'told', 'told_at', 'told_of')
end

-- Make the state when there is none. ARGV[1] is the state that the caller last saw: when it is gone, Redis lost
-- it, and one whole window is waited out, since nobody knows what was used in it.
local function found_state()
  local known, fresh = ARGV[1], ARGV[2]
  local id = redis.call('HGET', pool, 'id')
  if not id then
    id = fresh
    redis.call('HSET', pool, 'id', id, 'born', now)
    for window, cap in string.gmatch(ARGV[4], '(%d+):(%d+)') do
      redis.call('HSETNX', pool, 'cap:' .. window, cap)
    end
    if known == '' then
      local half = math.floor(get('cap:' .. base) / 2)
      add(base, half, now)
      redis.call('HSET', pool, 'assumed', half, 'assumed_at', math.floor(now / size(base)))
    end
  elseif is_astray(id) then
    forget()
    id = fresh
    redis.call('HSET', pool, 'id', id, 'born', now)
  end
  if known ~= '' and known ~= id then block(get('born') + base) end
  return id
end
"""
)

# ARGV of all: known id, fresh id, base window, limits "window:cap,...", time of the last grant that the caller saw
# (0: none), ms since on the caller's own clock. All answer {id, wait, now, ...}.

# ARGV from 7: weight, share, interactive (1 or 0), weight not told before, ticket ("" asks only), ms that the
# caller can wait. wait: 0 when taken, ms to wait when not, -1 when it can never fit.
TAKE = (
    _COMMON
    + """
local id = found_state()
local weight, share, interactive = tonumber(ARGV[7]), tonumber(ARGV[8]), ARGV[9]
local untold, ticket, left = tonumber(ARGV[10]), ARGV[11], tonumber(ARGV[12])
local limits = caps()
for window, _ in pairs(limits) do add(window, untold, now) end
if interactive == '0' then share = lent(share) end
local able, rate = usable(limits, share)
if interactive == '0' then share = share * recovered() end

-- Those who came before, and before background work also all for whom a person waits.
local function ahead()
  local queue, sum, mine = pool .. ':queue', 0, nil
  local held = redis.call('HGET', queue, ticket)
  if held then mine = tonumber(string.match(held, '^(%d+)')) end
  local all = redis.call('HGETALL', queue)
  for i = 1, #all, 2 do
    local turn, theirs, lapses, class = string.match(all[i + 1], '^(%d+):(%d+):(%d+):(%d)$')
    if tonumber(lapses) < now then
      redis.call('HDEL', queue, all[i])
    elseif all[i] ~= ticket then
      local before = mine == nil or tonumber(turn) < mine
      if (class == interactive and before) or (class == '1' and interactive == '0') then
        sum = sum + tonumber(theirs)
      end
    end
  end
  return sum, mine
end

local wait = math.max(0, get('blocked') - now)
local before, mine = 0, nil
if weight > 0 then
  before, mine = ahead()
  local flying = flights(limits)
  for window, cap in pairs(limits) do
    if weight > cap then return {id, -1, now} end
    local sum, live = ended(window, now)
    local theirs, leaving = foreign_use(window, cap)
    local over = sum + theirs + flying + before + weight - math.max(math.floor(cap * share), weight)
    if over > 0 then
      for _, entry in ipairs(leaving) do live[#live + 1] = entry end
      table.sort(live, function(a, b) return a[1] < b[1] end)
      local needed = window
      for _, entry in ipairs(live) do
        over = over - entry[2]
        if over <= 0 then
          needed = entry[1] - now
          break
        end
      end
      wait = math.max(wait, needed, 1)
    end
  end
end

local pace, paced = PACE * math.max(able, LEAST * rate) / 1000, math.max(get('paced'), now)
if weight > 0 and interactive == '0' then
  wait = math.max(wait, math.ceil(paced + before / pace - base * ALLOWS - now))
  -- Its windows may be fixed ones: then what leaves our count is still in its own until it begins anew.
  local until_ms = get('told_at') + base
  local meanwhile = average('foreign', 0) * math.min(now - get('told_at'), MEANWHILE) / 1000
  if until_ms > now and get('told') + meanwhile + weight > math.max(FULL * limits[base], weight) then
    wait = math.max(wait, math.min(until_ms - now, LOOK_AGAIN))
  end
end
if ticket == '' then return {id, wait, now} end
if wait == 0 then
  set('last', now)
  if weight > 0 then
    local longest = 0
    for window, _ in pairs(limits) do longest = math.max(longest, window) end
    redis.call('HDEL', pool .. ':queue', ticket)
    if redis.call('HEXISTS', pool, 'told') == 1 then redis.call('HINCRBY', pool, 'told', weight) end
    redis.call('HSET', pool .. ':flight', ticket, now .. ':' .. weight)
    redis.call('PEXPIRE', pool .. ':flight', FLIGHT + longest)
    if interactive == '1' then average('people', weight) else set('paced', paced + weight / pace) end
  end
elseif weight > 0 and wait <= left then
  if not mine then mine = redis.call('HINCRBY', pool, 'turn', 1) end
  local lapses = now + wait + GRACE
  redis.call('HSET', pool .. ':queue', ticket, mine .. ':' .. weight .. ':' .. lapses .. ':' .. interactive)
  redis.call('PEXPIRE', pool .. ':queue', wait + 2 * GRACE)
else
  redis.call('HDEL', pool .. ':queue', ticket)
end
return {id, wait, now}
"""
)

# ARGV from 7: ticket ("" for none), when it was granted, its weight, then for each window told: window, used,
# remaining or -1. The call has ended; the exchange's own count was made no earlier than the call was granted, so
# it is held against what counted then.
LEARN = (
    _COMMON
    + """
local id = found_state()
local ticket, since = ARGV[7], tonumber(ARGV[8])
local limits = caps()
if ticket ~= '' then
  redis.call('HDEL', pool .. ':flight', ticket)
  for window, _ in pairs(limits) do add(window, tonumber(ARGV[9]), now) end
end
if since == 0 then since = now end
local flying, assumed, foreign, base_told = flights(limits), get('assumed'), 0, false
for i = 10, #ARGV, 3 do
  if tonumber(ARGV[i]) == base then base_told = true end
end
for i = 10, #ARGV, 3 do
  local window, used, remaining = tonumber(ARGV[i]), tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  local told = remaining >= 0 and used + remaining > 0
  if told then
    redis.call('HSET', pool, 'cap:' .. window, used + remaining)
  elseif base_told and limits[window] then
    -- What the base window says itself is not worked out from it.
    redis.call('HDEL', pool, 'guess:' .. window)
  elseif not base_told and not limits[window] then
    local scaled = math.floor(get('cap:' .. base) * window / base)
    redis.call('HSET', pool, 'guess:' .. window, math.max(1, scaled))
  end
  if now - since <= KEEP and (told or not base_told or redis.call('HEXISTS', pool, 'cap:' .. window) == 1) then
    if window == base and assumed > 0 then
      -- The exchange's own count replaces what was assumed of an unknown past.
      local at = redis.call('HGET', pool, 'assumed_at')
      if redis.call('HEXISTS', pool .. ':' .. base, at) == 1 then
        redis.call('HINCRBY', pool .. ':' .. base, at, -assumed)
      end
      redis.call('HDEL', pool, 'assumed', 'assumed_at')
    end
    if window == base and since >= get('told_of') then
      redis.call('HSET', pool, 'told', used, 'told_at', now, 'told_of', since)
    end
    local more = used - (ended(window, since)) - (ended(window, since, ':foreign:')) - flying
    if more > 0 then
      add(window, more, now, ':foreign:')
      if window == base or not base_told then foreign = math.max(foreign, more) end
    end
  end
end
if foreign > 0 and not base_told then
  local room = get('cap:' .. base) - (ended(base, now)) - (ended(base, now, ':foreign:')) - flying
  foreign = math.max(0, math.min(foreign, room))
  add(base, foreign, now, ':foreign:')
end
if foreign > 0 and assumed == 0 then average('foreign', foreign) end
return {id, 0, now}
"""
)

# ARGV from 7: ms.
BLOCK = (
    _COMMON
    + """
local id = found_state()
block(now + tonumber(ARGV[7]))
set('slow', get('blocked'))
return {id, 0, now}
"""
)

# ARGV from 7: the background's share. The fourth answer: weight per second, as text.
USABLE = (
    _COMMON
    + """
local id = found_state()
local rate = usable(caps(), lent(tonumber(ARGV[7])))
return {id, 0, now, string.format('%.6f', rate)}
"""
)
