/** Reads a user from outside: what a hook returned, or what the REST API answered. */
import type { User } from '../decide/record'
import { Sso2ResponseError } from '../errors'
import { isObject } from '../protocol/json'
import { own } from '../protocol/token'
import type { LoadUser } from './site'

/** A user is JSON with at least `accountId`. @throws {Sso2ResponseError} naming the field */
export function readUser(value: unknown): User {
  const user: unknown = value === undefined ? undefined : JSON.parse(JSON.stringify(value))
  const accountId = isObject(user) ? own(user, 'accountId') : undefined
  if (!isObject(user) || typeof accountId !== 'string' || accountId === '') {
    throw new Sso2ResponseError('loadUser', undefined, 'accountId: a text is required')
  }
  return { ...user, accountId }
}

/** The default `loadUser`: GET of `userPath`; its `item`, or the body itself, with `account_id` also as `accountId`. */
export function defaultLoadUser(userPath: string): LoadUser {
  return async ({ api }) => {
    const body = await api.get(userPath)
    const item = own(body, 'item')
    const fields = isObject(item) ? item : body
    const accountId = own(fields, 'accountId') ?? own(fields, 'account_id')
    return { ...fields, accountId } as User // read by readUser, which checks it
  }
}
