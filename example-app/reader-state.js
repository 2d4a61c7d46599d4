/** What a reader is told when less is known than should be. The keys are those of `req.sso2.degraded`. */
const degradedTexts = {
  sso_unavailable: 'The network’s log-in service does not answer. You can read on; we keep trying.',
  store_unavailable: 'Our own session store does not answer. You can read on without being logged in.',
  user_unknown: 'You are logged in to the network, but we could not find out who you are. We try again shortly.',
  logout_pending: 'You are logged out here. The network has not confirmed it yet; we keep trying.',
  identify_loop: 'Your browser came back from the network too often, so we stopped asking.',
  cookies_blocked: 'Your browser keeps no cookies, so you cannot be logged in.',
  token_refused: 'The network’s answer could not be trusted. We have noted it.',
}

/**
 * What the bar at the top of every page says about the reader's session.
 * `now` is epoch milliseconds; `sister` is the name of the other newspaper.
 */
function readerState(sso2, now, sister) {
  const { status, user, checkedAt, degraded } = sso2
  const base = { user, tone: 'out', headline: 'Not logged in.', detail: '' }
  if (degraded) {
    const headline = user ? `Logged in as ${user.name}.` : 'Not logged in.'
    return {
      ...base,
      tone: 'warn',
      headline,
      detail: degradedTexts[degraded] ?? `Less is known than usual: ${degraded}.`,
    }
  }
  if (status === 'loggedin') {
    return { ...base, tone: 'in', headline: `Logged in as ${user.name}.`, detail: `Checked ${ago(checkedAt, now)}.` }
  }
  if (status === 'anon') {
    return { ...base, headline: 'Reading anonymously.', detail: `A login at the ${sister} counts here as well.` }
  }
  return { ...base, headline: 'No session.', detail: 'The network does not know this browser yet.' }
}

/** How long ago in words. An unknown time is `never`. */
function ago(date, now) {
  if (!date) return 'never'
  const seconds = Math.max(0, Math.round((now - date.getTime()) / 1000))
  if (seconds < 5) return 'just now'
  if (seconds < 90) return `${seconds} seconds ago`
  return `${Math.round(seconds / 60)} minutes ago`
}

module.exports = { readerState, ago }
