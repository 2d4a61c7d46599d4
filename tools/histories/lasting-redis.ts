import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startRedis, type TestRedis } from '../../test/support/redis'

/** A Redis that comes back with all that was written, or with nothing. */
export async function startLastingRedis() {
  const folder = mkdtempSync(path.join(tmpdir(), 'express-sso2-lasting-'))
  const inside = path.join(folder, 'appendonlydir')
  let server: TestRedis = await startRedis({ folder })
  const { port, url } = server
  return {
    port,
    url,
    restart: async ({ isEmpty }: { readonly isEmpty: boolean }) => {
      await server.stop()
      if (isEmpty) rmSync(inside, { recursive: true, force: true })
      server = await startRedis({ folder, port })
    },
    close: async () => {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
