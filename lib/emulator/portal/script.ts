/** The portal's script as text. The script runs in browsers only. */

/** Plain JavaScript without a build. Buttons make control calls, and the page replaces its live sections. */
export const portalScript = `'use strict'
const notice = document.getElementById('notice')
const live = document.getElementById('live')

let clearing

function say(text, { isBad = false, stays = isBad } = {}) {
  notice.textContent = text
  notice.className = isBad ? 'bad' : 'good'
  clearTimeout(clearing)
  if (!stays) clearing = setTimeout(() => say('', { stays: true }), 8000)
}

async function call(method, path, body, done) {
  try {
    const answer = await fetch(path, {
      method,
      headers: { 'content-type': 'application/json' },
      body: method === 'DELETE' ? undefined : JSON.stringify(body),
    })
    const result = await answer.json()
    if (!answer.ok) say(result.error.message, { isBad: true })
    else if (result.otp) say(done + ' ' + result.otp + ' is a one-time password. It is shown once.', { stays: true })
    else say(done)
    await refresh()
    return answer.ok
  } catch {
    say('The emulator does not answer.', { isBad: true })
    return false
  }
}

function keyOf(element) {
  return element instanceof Element ? element.closest('[data-key]')?.dataset.key : undefined
}

function byKey(root, key) {
  return [...root.querySelectorAll('[data-key]')].find((element) => element.dataset.key === key)
}

function replace(section, next) {
  // a press on a button that moves or is replaced would be lost: the end of the press asks again
  if (section.innerHTML === next.innerHTML || document.querySelector('button:active')) return
  const focused = section.contains(document.activeElement) ? keyOf(document.activeElement) : undefined
  const opened = [...section.querySelectorAll('details[open]')].map(keyOf)
  section.innerHTML = next.innerHTML
  for (const key of opened) byKey(section, key)?.setAttribute('open', '')
  if (focused === undefined) return
  const again = byKey(section, focused)
  const target = again instanceof HTMLDetailsElement ? again.querySelector('summary') : again
  if (target) target.focus()
  else {
    // The button has gone with what it was for: the section is the nearest place to stay.
    section.tabIndex = -1
    section.focus()
  }
}

let refreshing
let isStale = false

function refresh() {
  isStale = true
  refreshing ??= update().finally(() => {
    refreshing = undefined
  })
  return refreshing
}

async function update() {
  while (isStale) {
    isStale = false
    const answer = await fetch(location.pathname)
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
    for (const section of document.querySelectorAll('[data-live]')) {
      const next = page.getElementById(section.id)
      if (next) replace(section, next)
    }
  }
}

document.addEventListener('click', (event) => {
  const button = event.target instanceof Element ? event.target.closest('button[data-path]') : undefined
  if (!button) return
  const { method, path, body, done, confirm: question } = button.dataset
  if (question && !window.confirm(question)) return
  call(method, path, JSON.parse(body), done)
})

document.addEventListener('pointerup', () => void refresh())

function useFaultForm(form) {
  function showValue() {
    const { field, first } = form.elements.kind.selectedOptions[0].dataset
    const label = document.getElementById('fault-value')
    label.hidden = field === ''
    label.querySelector('span').textContent = { ms: 'Milliseconds', seconds: 'Seconds', code: 'Code' }[field] ?? 'Value'
    form.elements.value.value = first
  }

  form.elements.kind.addEventListener('change', showValue)
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const { operation, kind, value, times, sid } = form.elements
    const { field } = kind.selectedOptions[0].dataset
    const body = { operation: operation.value, kind: kind.value }
    if (field !== '') body[field] = /^-?[0-9]+$/.test(value.value) ? Number(value.value) : value.value
    if (times.value !== '') body.times = Number(times.value)
    if (sid.value !== '') body.sid = sid.value.trim()
    await call('POST', form.dataset.path, body, form.dataset.done)
  })
  showValue()
}

const faultForm = document.getElementById('fault-form')
if (faultForm) useFaultForm(faultForm)

// An arrow of a diagram leads to its claims, which are closed at first.
function openTarget() {
  const target = location.hash === '' ? null : document.getElementById(location.hash.slice(1))
  const details = target?.closest('details')
  if (!details) return
  details.open = true
  details.querySelector('summary').focus()
}
addEventListener('hashchange', openTarget)
openTarget()

const events = new EventSource('/_emulator/events')
events.addEventListener('open', () => {
  live.textContent = 'live'
  live.className = 'chip good'
  refresh().catch(() => {})
})
events.addEventListener('error', () => {
  live.textContent = 'no connection'
  live.className = 'chip bad'
})
events.addEventListener('changed', () => refresh().catch(() => {}))
// Ages grow without anything happening.
setInterval(() => {
  if (document.visibilityState === 'visible') refresh().catch(() => {})
}, 5000)
`
