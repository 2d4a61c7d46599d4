/** Issues and exchanges Authorization Tickets and access tokens. Interface: "Authentication". */
import type { EpochSeconds } from '../../protocol/claims'
import type { Client } from '../config/options'
import { findSession, randomId } from './sessions'
import { type AccessToken, dropExpired, type LoggedinSession, limitsOf, type World } from './world'

/** Issues a ticket for a client, an account and a session. */
export function issueTicket(world: World, clientId: string, session: LoggedinSession, now: EpochSeconds): string {
  dropExpired(world.tickets, now)
  const ticket = randomId()
  const { sid, accountId } = session
  world.tickets.set(ticket, { clientId, accountId, sid, expiresAt: now + limitsOf(world).ticketSeconds })
  return ticket
}

/**
 * Consumes a ticket. Another client than the ticket's cannot consume the ticket.
 * @returns the content of the access token, or the reason of a refusal
 */
export function takeTicket(world: World, code: string, client: Client, now: EpochSeconds): AccessToken | string {
  const ticket = world.tickets.get(code)
  if (!ticket) return 'the ticket is unknown, used, or expired'
  if (ticket.clientId !== client.clientId) return 'the ticket was issued for another client'
  world.tickets.delete(code)
  if (ticket.expiresAt <= now) return 'the ticket is unknown, used, or expired'
  const { clientId, accountId, sid } = ticket
  const session = findSession(world, sid, now)
  if (session?.status !== 'loggedin' || session.accountId !== accountId) return 'the session of the ticket has ended'
  const scopes = scopesOf(world, client, accountId)
  return { clientId, accountId, sid, scopes, expiresAt: now + limitsOf(world).accessTokenSeconds }
}

/** Returns the scopes that client and account share. */
function scopesOf(world: World, { scopes }: Client, accountId: string): readonly string[] {
  const allowed = world.accountsById.get(accountId)?.account.scopes
  return allowed ? scopes.filter((scope) => allowed.includes(scope)) : scopes
}

/**
 * Stores an access token.
 * @returns the bearer text
 */
export function issueAccessToken(world: World, token: AccessToken, now: EpochSeconds): string {
  dropExpired(world.accessTokens, now)
  const bearer = randomId() + randomId()
  world.accessTokens.set(bearer, token)
  return bearer
}

/** Finds an access token by its bearer text, unless the token is unknown or expired. */
export function findAccessToken(world: World, bearer: string, now: EpochSeconds): AccessToken | undefined {
  const token = world.accessTokens.get(bearer)
  return token && token.expiresAt > now ? token : undefined
}
