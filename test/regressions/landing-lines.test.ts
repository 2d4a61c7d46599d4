import express from 'express'
import { addPages, startNetwork } from '../flows/network'
import { beginFlow, land, landingToken } from '../safety/session-support'
import { Browser } from '../support/agent'
import { startSite } from './support'

/* The line of a landing that is given up names its own cause, and no other. */

const TOO_MANY = /Too many new anonymous sessions from one IP address/
const CLAIMS = /their claims are not documented/

test('undocumented claims', async () => {
  const lines: string[] = []
  const network = await startNetwork({ site: { logger: { warn: (line) => void lines.push(line), info: () => {} } } })
  const claims = { sid: 'sid-1', sts: 'anon', at: null, err: 'session_not_found' }
  await land(network, await beginFlow(network), landingToken(network, claims))
  await network.close()
  expect(lines).toEqual([expect.stringMatching(CLAIMS)])
})

test('more anonymous sessions than an address may begin in a minute', async () => {
  const lines: string[] = []
  const stage = await startSite({
    options: { logger: { warn: (line) => void lines.push(line), info: () => {} } },
    build: (sso, gates) => addPages(express().set('trust proxy', 1).use(sso), sso, gates),
  })
  const now = () => stage.emulator.clock.now()
  for (let index = 0; index < 601; index += 1)
    await new Browser({ now, headers: { 'x-forwarded-for': '198.51.100.7' } }).visit(`${stage.url}/`)
  await stage.close()
  expect(lines).toEqual([expect.stringMatching(TOO_MANY)])
})
