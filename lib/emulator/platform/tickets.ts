/** Authorization Tickets and access tokens. Interface: "Authentication"; contract: sections 6 and 9. */
import type { EpochSeconds } from '../../protocol/claims'
import { findSession, randomId } from './sessions'
import { type AccessToken, dropExpired, type LoggedinSession, limitsOf, type World } from './world'

/** Issues a ticket, bound to one client, account and session. */
export function issueTicket(world: World, clientId: string, session: LoggedinSession, now: EpochSeconds): string {
  dropExpired(world.tickets, now)
  const ticket = randomId()
  const { sid, accountId } = session
  world.tickets.set(ticket, { clientId, accountId, sid, expiresAt: now + limitsOf(world).ticketSeconds })
  return ticket
}

/**
 * Takes a ticket, once. A client that it was not issued for does not use it up.
 * @returns the access token's content, or why it is refused
 */
export function takeTicket(world: World, code: string, clientId: string, now: EpochSeconds): AccessToken | string {
  const ticket = world.tickets.get(code)
  if (!ticket) return 'the ticket is unknown, used, or expired'
  if (ticket.clientId !== clientId) return 'the ticket was issued for another client'
  world.tickets.delete(code)
  if (ticket.expiresAt <= now) return 'the ticket is unknown, used, or expired'
  const { accountId, sid } = ticket
  const session = findSession(world, sid, now)
  if (session?.status !== 'loggedin' || session.accountId !== accountId) return 'the session of the ticket has ended'
  const scopes = scopesOf(world, clientId, accountId)
  return { clientId, accountId, sid, scopes, expiresAt: now + limitsOf(world).accessTokenSeconds }
}

/** Scopes of the client that the account has too; without an account, all of the client's. */
export function scopesOf(world: World, clientId: string, accountId: string | undefined): readonly string[] {
  const scopes = world.clients.get(clientId)?.client.scopes ?? []
  const allowed = accountId === undefined ? undefined : world.accountsById.get(accountId)?.account.scopes
  return allowed ? scopes.filter((scope) => allowed.includes(scope)) : scopes
}

/** Stores an access token and gives its text. */
export function issueAccessToken(world: World, token: AccessToken, now: EpochSeconds): string {
  dropExpired(world.accessTokens, now)
  const bearer = randomId() + randomId()
  world.accessTokens.set(bearer, token)
  return bearer
}

/** The access token of a bearer, unless it is unknown or expired. */
export function findAccessToken(world: World, bearer: string, now: EpochSeconds): AccessToken | undefined {
  const token = world.accessTokens.get(bearer)
  return token && token.expiresAt > now ? token : undefined
}
