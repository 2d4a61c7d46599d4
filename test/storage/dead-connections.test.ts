import { Redis } from 'ioredis'
import { openRedis } from '../../lib/storage/redis-connection'
import { redisKv } from '../../lib/storage/redis-kv'
import { startRedisFront } from '../support/front'
import { useRedis } from '../support/redis'
import { untilAnswered } from '../support/wait'
import { answeredWithin, readsOf } from './silence'

const redis = useRedis()

const clients = [
  ['of our own', (port: number) => openRedis(`redis://127.0.0.1:${port}`)],
  ['that was passed in with socketTimeout', (port: number) => new Redis(port, { socketTimeout: 1000 })],
] as const

test.concurrent.each(clients)(
  'a connection goes silent → a client %s has another one within 5 s',
  async (_name, open) => {
    const front = await startRedisFront(Number(new URL(redis.url()).port))
    const client = open(front.port)
    const kv = redisKv(client, true)
    await untilAnswered(() => kv.mget(['a'])) // the first of all connects as well
    const sent = readsOf(client, 'a')
    front.silence()
    await answeredWithin(5000, () => kv.mget(['a']))
    expect(sent.length).toBeGreaterThan(1) // of which the last one is answered
    expect(sent.length).toBeLessThanOrEqual(5)
    expect(kv.isAvailable).toBe(true)
    await kv.close()
    client.disconnect()
    await front.down()
  },
)
