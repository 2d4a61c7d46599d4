const { AccessTokenExpiredError, NotLoggedInError, PlatformApiError, Sso2Error } = require('express-sso2')

/**
 * Runs one or more calls of the Platform API for a page. Gives `{ answer }`, or `{ problem, status }` with what
 * the reader should be told. What is not the platform's doing is thrown on.
 *
 * @param {string} here the page's own address, where the reader comes back to
 * @param {() => Promise<unknown>} ask
 */
async function askPlatform(here, ask) {
  try {
    return { answer: await ask(), problem: undefined, status: 200 }
  } catch (error) {
    if (!(error instanceof Sso2Error)) throw error
    return { answer: undefined, ...explain(error, here) }
  }
}

function explain(error, here) {
  if (error instanceof NotLoggedInError) {
    const action = { href: `/login?return_to=${encodeURIComponent(here)}`, text: 'Log in' }
    return problem(401, 'warn', 'Please log in first', 'The platform answers this only for a reader whom it knows.', {
      action,
    })
  }
  if (error instanceof AccessTokenExpiredError) {
    const action = { href: here, text: 'Go on' } // opening any page brings the new one
    const text =
      'The platform’s permission for this session has run out. You are still logged in: go on, and you get a new one.'
    return problem(401, 'warn', 'Your access has expired', text, { action })
  }
  if (error instanceof PlatformApiError && error.httpStatus === 403) {
    const text = 'Your account may not see this page. Ask an administrator of the organisation for the permission.'
    return problem(403, 'bad', 'Not for this account', text, { scope: error.scope })
  }
  if (error instanceof PlatformApiError && error.httpStatus === 400) {
    return problem(400, 'bad', 'The platform did not accept this', 'Please check what you have entered.')
  }
  return problem(503, 'bad', 'The platform does not answer', 'Please try again in a moment. Nothing you typed is lost.')
}

function problem(status, tone, title, text, more = {}) {
  return { status, problem: { tone, title, text, scope: undefined, action: undefined, ...more } }
}

module.exports = { askPlatform }
