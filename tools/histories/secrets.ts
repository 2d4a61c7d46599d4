import type { Redis } from 'ioredis'

/** Session IDs of the platform look so; much else does, too. */
const ID = /(?<![\w-])[\w-]{22}(?![\w-])/g
const TOKEN = /eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{20,}/

/** Looks for what must stand in no answer, no log and no value of the store. */
export class Secrets {
  readonly #words: RegExp
  readonly #ids = new Set<string>()
  readonly #found = new Set<string>()
  /** @param words passwords and keys */
  constructor(words: readonly string[]) {
    this.#words = new RegExp(words.map((word) => word.replace(/[^\w]/g, '\\$&')).join('|'))
  }

  /** Looks through an answer: its body, and the cookies that it sets. */
  look(...texts: readonly string[]): void {
    for (const text of texts) this.#look('an answer', text)
  }

  /** Looks through the output of the processes and through the store. @param sids of all sessions that the platform has had */
  async lookAround(
    outputs: readonly string[],
    servers: readonly Redis[],
    sids: ReadonlySet<string>,
  ): Promise<string[]> {
    for (const output of outputs) this.#look('the log', output)
    for (const redis of servers)
      for (const key of await redis.keys('*')) this.#look('the store', `${key} ${await readAny(redis, key)}`)
    if ([...this.#ids].some((id) => sids.has(id))) this.#found.add('a session ID of the SSO system stood in clear')
    return [...this.#found]
  }

  #look(place: string, text: string): void {
    if (this.#words.test(text)) this.#found.add(`a password or key stood in ${place}`)
    if (TOKEN.test(text)) this.#found.add(`a token stood in ${place}`)
    for (const [id] of text.matchAll(ID)) this.#ids.add(id)
  }
}

async function readAny(redis: Redis, key: string): Promise<string> {
  switch (await redis.type(key)) {
    case 'zset':
      return (await redis.zrange(key, 0, -1)).join(' ')
    case 'hash':
      return JSON.stringify(await redis.hgetall(key))
    case 'string':
      return (await redis.get(key)) ?? ''
    case 'none':
      return ''
    default:
      throw new Error(`${key} is of a kind that is not looked through`)
  }
}
