package cacheredis

import "github.com/redis/rueidis"

// The keys of a namespace share the hash tag {ns/00}, so that one script may touch them all:
//
//	q1:d:{ns/00}:KEY  record     q1:t:{ns/00}:TAG  counter of a tag
//	q1:l:{ns/00}:KEY  lease      q1:m:{ns/00}      meta: e epoch, c counter, i identity
//
// and q1:b:{ns/00} is the channel of the frames. A counter goes on from the server's clock in
// microseconds (below 2^53, exact in Lua) when the meta hash is made, so that it is greater than
// all counters of the epochs before.

const (
	dataStart    = "q1:d:{"
	leaseStart   = "q1:l:{"
	tagStart     = "q1:t:{"
	metaStart    = "q1:m:{"
	channelStart = "q1:b:{"
	tagEnd       = "/00}" // of the hash tag
	keyEnd       = tagEnd + ":"
)

func dataKey(ns, key string) string  { return dataStart + ns + keyEnd + key }
func leaseKey(ns, key string) string { return leaseStart + ns + keyEnd + key }
func tagKey(ns, tag string) string   { return tagStart + ns + keyEnd + tag }
func metaKey(ns string) string       { return metaStart + ns + tagEnd }
func channel(ns string) string       { return channelStart + ns + tagEnd }

// A script publishes before it stores: what is published is seen by nobody before the script ends,
// and where publishing is refused, as to a user without the channel, nothing was stored.

// lib is what all scripts begin with. begin(identity) makes a new epoch if there is none, or if the
// server is not the one that began it (identity is nil for scripts that do not check). ARGV[1] is
// the channel, ARGV[2] the epoch to begin.
const lib = `
local function begin(identity)
  local e, i = unpack(redis.call('HMGET', KEYS[1], 'e', 'i'))
  if e and (not identity or i == identity) then return e end
  e = ARGV[2]
  local t = redis.call('TIME')
  redis.call('PUBLISH', ARGV[1], 'QB\1\6' .. e .. string.rep('\0', 20))
  redis.call('HSET', KEYS[1], 'e', e, 'c', string.format('%.0f', t[1] * 1000000 + t[2]), 'i', identity or '')
  return e
end
local function num(n)
  local hi = math.floor(n / 4294967296)
  return struct.pack('>I4I4', hi, n - hi * 4294967296)
end
`

// openScript returns the epoch. A server that was restarted or promoted begins a new one, as does a
// namespace whose meta hash was begun by a write.
//
// KEYS meta; ARGV channel, epoch
const openScript = lib + `
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
local repl = string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)')
return begin((run or '') .. '/' .. (repl or ''))
`

// storeScript stores one record.
//
// KEYS meta, data, lease, tag...; ARGV channel, epoch, condition, what it wants, life in ms, header
// to byte 8, record from byte 32, frame to byte 4, frame from byte 20, push, counter of each tag
const storeScript = lib + `
local now = redis.call('GETRANGE', KEYS[2], 0, 39)
local have = ''
if #now == 40 then have = string.sub(now, 9, 24) .. string.sub(now, 33, 40) end
if ARGV[3] == 'v' and have ~= ARGV[4] then return false end
if ARGV[3] == 'l' and redis.call('GET', KEYS[3]) ~= ARGV[4] then return false end
for i = 4, #KEYS do
  if redis.call('GET', KEYS[i]) ~= ARGV[i + 7] then return 'outdated' end
end
local e = begin()
local c = num(redis.call('HINCRBY', KEYS[1], 'c', 1))
local t = redis.call('TIME')
local stored = num(t[1] * 1000000 + t[2])
local record = ARGV[6] .. e .. c .. stored .. ARGV[7]
local frame = ARGV[8] .. e .. c .. ARGV[9]
frame = frame .. (ARGV[10] == '1' and record or stored)
redis.call('PUBLISH', ARGV[1], frame)
redis.call('SET', KEYS[2], record, 'PX', ARGV[5])
redis.call('DEL', KEYS[3])
return e .. c
`

// leaseScript acquires, renews or releases a lease. It returns 1 for granted, 2 for a newer record.
//
// KEYS meta, data, lease; ARGV channel, epoch, verb, token, life in ms, known version, frame to
// byte 4, frame from byte 20
const leaseScript = lib + `
local mine = redis.call('GET', KEYS[3])
if ARGV[3] == 'a' then
  local now = redis.call('GETRANGE', KEYS[2], 0, 39)
  if #now > 0 and string.sub(now, 9, 24) .. string.sub(now, 33, 40) ~= ARGV[6] then return 2 end
  if mine and mine ~= ARGV[4] then return 0 end
  redis.call('SET', KEYS[3], ARGV[4], 'PX', ARGV[5])
  return 1
end
if mine ~= ARGV[4] then return 0 end
if ARGV[3] == 'r' then
  redis.call('PEXPIRE', KEYS[3], ARGV[5])
  return 1
end
redis.call('PUBLISH', ARGV[1], ARGV[7] .. begin() .. string.rep('\0', 8) .. ARGV[8])
redis.call('DEL', KEYS[3])
return 1
`

// tagsScript reads, makes or bumps counters of tags. A life of 0 is none.
//
// KEYS meta, tag...; ARGV channel, epoch, bump, (life in ms, frame to byte 4, frame from byte
// 20)...
const tagsScript = lib + `
local all = {}
local e = begin()
for i = 2, #KEYS do
  local life, head, tail = ARGV[i * 3 - 2], ARGV[i * 3 - 1], ARGV[i * 3]
  local c = redis.call('GET', KEYS[i])
  if not c or ARGV[3] == '1' then
    c = string.format('%.0f', redis.call('HINCRBY', KEYS[1], 'c', 1))
    if ARGV[3] == '1' then redis.call('PUBLISH', ARGV[1], head .. e .. num(tonumber(c)) .. tail) end
    redis.call('SET', KEYS[i], c)
  end
  if life ~= '0' and redis.call('PTTL', KEYS[i]) < tonumber(life) then redis.call('PEXPIRE', KEYS[i], life) end
  all[i - 1] = c
end
return all
`

// purgeScript removes the records among KEYS of which a tag has another counter than it has now, or
// which lack the tag "". Tombstones (state 3) have no tags and stay. What is no record of this form
// stays too. The counters are in the slot of the records.
//
// KEYS data...; ARGV what the keys of counters begin with
const purgeScript = `
local n = 0
for _, key in ipairs(KEYS) do
  local r = redis.call('GETRANGE', key, 0, 2399)
  if #r >= 64 and string.sub(r, 1, 3) == 'QE\1' and string.byte(r, 4) ~= 3 then
    local at, all, valid = 65, false, true
    for _ = 1, string.byte(r, 6) do
      local l = string.byte(r, at)
      if not l or #r < at + l + 8 then break end
      local name = string.sub(r, at + 1, at + l)
      local hi, lo = struct.unpack('>I4I4', string.sub(r, at + l + 1, at + l + 8))
      local now = redis.call('GET', ARGV[1] .. name)
      valid = valid and now and tonumber(now) == hi * 4294967296 + lo
      all = all or name == ''
      at = at + l + 9
    end
    if not (valid and all) then n = n + redis.call('UNLINK', key) end
  end
end
return n
`

// scripts are the programs of a client: EVALSHA, and EVAL where the server does not know the text.
type scripts struct{ open, store, lease, tags, purge *rueidis.Lua }

func newScripts() scripts {
	return scripts{
		open:  rueidis.NewLuaScript(openScript),
		store: rueidis.NewLuaScript(storeScript),
		lease: rueidis.NewLuaScript(leaseScript),
		tags:  rueidis.NewLuaScript(tagsScript),
		purge: rueidis.NewLuaScript(purgeScript),
	}
}
