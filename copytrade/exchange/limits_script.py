"""The limiter's atomic steps in Redis, on Redis's own clock.

KEYS[1] is a pool: a hash with `id` and `born` (which state this is, and since when), `blocked` (ms until which
nothing goes out), `assumed` (weight charged for an unknown past, in bucket `assumed_at`) and `cap:<window>` (the
limits). The use of each window is a hash of its own, KEYS[1]:<window>, bucket -> weight.
"""

_COMMON = """
local pool = KEYS[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local BUCKETS = 50

local function size(window) return math.max(1, math.floor(window / BUCKETS)) end

local function use(window)
  local sum, live, key = 0, {}, pool .. ':' .. window
  local all = redis.call('HGETALL', key)
  for i = 1, #all, 2 do
    local bucket, weight = tonumber(all[i]), tonumber(all[i + 1])
    if (bucket + 1) * size(window) > now - window then
      sum = sum + weight
      live[#live + 1] = {bucket, weight}
    else
      redis.call('HDEL', key, all[i])
    end
  end
  return sum, live
end

local function add(window, weight)
  local key = pool .. ':' .. window
  redis.call('HINCRBY', key, math.floor(now / size(window)), weight)
  redis.call('PEXPIRE', key, window + 2 * size(window))
end

local function caps()
  local found = {}
  local all = redis.call('HGETALL', pool)
  for i = 1, #all, 2 do
    local window = string.match(all[i], '^cap:(%d+)$')
    if window then found[tonumber(window)] = tonumber(all[i + 1]) end
  end
  return found
end

local function block(until_ms)
  local held = tonumber(redis.call('HGET', pool, 'blocked') or '0')
  if until_ms > held then redis.call('HSET', pool, 'blocked', until_ms) end
end

-- Make the state when there is none. `known` is the state that the caller last saw: when it is gone, Redis lost
-- it, and one whole window is waited out, since nobody knows what was used in it.
local function found_state(known, fresh, base, start)
  local id = redis.call('HGET', pool, 'id')
  if not id then
    id = fresh
    redis.call('HSET', pool, 'id', id, 'born', now)
    for window, cap in string.gmatch(start, '(%d+):(%d+)') do
      redis.call('HSETNX', pool, 'cap:' .. window, cap)
    end
    if known == '' then
      local half = math.floor(tonumber(redis.call('HGET', pool, 'cap:' .. base)) / 2)
      add(base, half)
      redis.call('HSET', pool, 'assumed', half, 'assumed_at', math.floor(now / size(base)))
    end
  end
  if known ~= '' and known ~= id then
    block(tonumber(redis.call('HGET', pool, 'born')) + base)
  end
  return id
end
"""

# ARGV: known id, fresh id, base window, limits "window:cap,...", weight, share, weight not told before.
# Answers {id, wait}: 0 when taken, ms to wait when not, -1 when it can never fit.
TAKE = (
    _COMMON
    + """
local base, weight, share, untold = tonumber(ARGV[3]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local id = found_state(ARGV[1], ARGV[2], base, ARGV[4])
local limits = caps()
if untold > 0 then
  for window, _ in pairs(limits) do add(window, untold) end
end
local wait = math.max(0, tonumber(redis.call('HGET', pool, 'blocked') or '0') - now)
if weight > 0 then
  for window, cap in pairs(limits) do
    if weight > cap then return {id, -1} end
    local sum, live = use(window)
    local over = sum + weight - math.max(math.floor(cap * share), weight)
    if over > 0 then
      table.sort(live, function(a, b) return a[1] < b[1] end)
      local needed = window
      for _, entry in ipairs(live) do
        over = over - entry[2]
        if over <= 0 then
          needed = (entry[1] + 1) * size(window) + window - now
          break
        end
      end
      wait = math.max(wait, needed, 1)
    end
  end
end
if wait == 0 and weight > 0 then
  for window, _ in pairs(limits) do add(window, weight) end
end
return {id, wait}
"""
)

# ARGV: known id, fresh id, base window, limits, then for each window told: window, used, remaining or -1.
LEARN = (
    _COMMON
    + """
local base = tonumber(ARGV[3])
local id = found_state(ARGV[1], ARGV[2], base, ARGV[4])
local foreign, base_told = 0, false
local assumed = tonumber(redis.call('HGET', pool, 'assumed') or '0')
for i = 5, #ARGV, 3 do
  local window, used, remaining = tonumber(ARGV[i]), tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  if remaining >= 0 and used + remaining > 0 then
    redis.call('HSET', pool, 'cap:' .. window, used + remaining)
  else
    local scaled = math.floor(tonumber(redis.call('HGET', pool, 'cap:' .. base)) * window / base)
    redis.call('HSETNX', pool, 'cap:' .. window, math.max(1, scaled))
  end
  if window == base then
    base_told = true
    if assumed > 0 then
      -- The exchange's own count replaces what was assumed of an unknown past.
      local at = redis.call('HGET', pool, 'assumed_at')
      if redis.call('HEXISTS', pool .. ':' .. base, at) == 1 then
        redis.call('HINCRBY', pool .. ':' .. base, at, -assumed)
      end
      redis.call('HDEL', pool, 'assumed', 'assumed_at')
    end
  end
  local sum = use(window)
  if used > sum then
    add(window, used - sum)
    foreign = math.max(foreign, used - sum)
  end
end
if foreign > 0 and not base_told then
  local cap = tonumber(redis.call('HGET', pool, 'cap:' .. base))
  add(base, math.max(0, math.min(foreign, cap - use(base))))
end
return {id, 0}
"""
)

# ARGV: known id, fresh id, base window, limits, ms.
BLOCK = (
    _COMMON
    + """
local id = found_state(ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4])
block(now + tonumber(ARGV[5]))
return {id, 0}
"""
)
