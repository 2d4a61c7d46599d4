/** Reads and sets the device cookie of a browser. Threats F3, F13, F18. */
import { DEVICE_SECONDS, exactNameHash, findDevice, type Sealer, withDevice } from '../../decide/device-cookie'
import { shortHash } from '../../storage/keys'
import { seal, unseal } from '../../storage/seal'
import { readCookie } from '../http/request-facts'
import { setCookie } from '../http/response-headers'
import type { RequestContext } from '../request-context'
import type { Site } from '../site'

const sealerOf = ({ config }: Site): Sealer => ({
  seal: (text) => seal(text, config.encryptionKeys()),
  open: (sealed) => unseal(sealed, config.encryptionKeys()),
})

/**
 * Has this browser logged in under this very user name, without a logout of all sessions since?
 * @returns the short hash of the account's ID if so
 */
export async function recognisedAccount({ site, req }: RequestContext, username: string): Promise<string | undefined> {
  const { config, loginLocks: logins } = site
  if (!config.rememberDevices) return undefined
  const device = findDevice(readCookie(req, config.cookies.device), username, sealerOf(site), site.now())
  if (device === undefined) return undefined
  const voidUntil = await logins.devicesRevokedAt(device.account)
  return voidUntil !== 'unavailable' && device.issued > voidUntil ? device.account : undefined
}

/** Adds a login to the device cookie. */
export function rememberDevice({ site, req, res }: RequestContext, username: string, accountId: string): void {
  const { config } = site
  if (!config.rememberDevices || res.headersSent) return
  const device = { issued: site.now(), account: shortHash(accountId), name: exactNameHash(username) }
  const value = withDevice(readCookie(req, config.cookies.device), device, sealerOf(site))
  setCookie(res, config, config.cookies.device, value, DEVICE_SECONDS)
}
