import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import v8 from 'node:v8'
import express from 'express'
import { untrackShape } from '../../lib/web/session/request-session'

v8.setFlagsFromString('--allow-natives-syntax')
const isTracked: (object: object) => boolean = new Function('object', 'return %HasFastProperties(object)') as never
v8.setFlagsFromString('--no-allow-natives-syntax')

const isOldNode = Number(process.versions.node.split('.')[0]) < 24

/** What a handler sees of its request and answer, before and after. */
function seen(handler: (report: (found: object) => void) => Parameters<typeof createServer>[1]): Promise<object> {
  return new Promise<object>((resolve) => {
    const server = createServer(handler(resolve)).listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      get({ port, host: '127.0.0.1' }, (answer) => answer.resume().on('end', () => server.close()))
    })
  })
}

const look = (object: object) => ({ keys: Reflect.ownKeys(object), values: Object.values(object) })

test("Express's requests and answers are no longer tracked on Node.js 20 and 22, and look as before", async () => {
  const found = await seen((report) => {
    const app = express()
    app.use((req, res) => {
      const before = [look(req), look(res)]
      untrackShape(req)
      untrackShape(res)
      report({ before, after: [look(req), look(res)], areTracked: [isTracked(req), isTracked(res)] })
      res.end()
    })
    return app
  })
  const { before, after, areTracked } = found as Record<string, unknown>
  expect(after).toEqual(before)
  expect(areTracked).toEqual(isOldNode ? [false, false] : [true, true])
})

test('those of Node.js itself, which V8 tracks well, stay as they are', async () => {
  const found = await seen((report) => (req, res) => {
    untrackShape(req)
    untrackShape(res)
    report({ areTracked: [isTracked(req), isTracked(res)] })
    res.end()
  })
  expect(found).toEqual({ areTracked: [true, true] })
})
