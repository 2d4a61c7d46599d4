const express = require('express')
const { askPlatform } = require('./ask-platform.js')

/** The address fields of the platform, as the form shows them. */
const fields = [
  { name: 'first_name', label: 'First name', autocomplete: 'section-gift given-name', size: 'half' },
  { name: 'last_name', label: 'Last name', autocomplete: 'section-gift family-name', size: 'half' },
  { name: 'street', label: 'Street', autocomplete: 'section-gift address-line1', size: 'most' },
  { name: 'street_number', label: 'Number', autocomplete: 'section-gift address-line2', size: 'little' },
  { name: 'zip_code', label: 'Postcode', autocomplete: 'section-gift postal-code', size: 'little' },
  { name: 'city', label: 'City', autocomplete: 'section-gift address-level2', size: 'most' },
  { name: 'country_code', label: 'Country code', autocomplete: 'section-gift country', size: 'half' },
]

/** The pages that show what the platform's REST API knows: marketplace groups, gift receivers, administrators. */
function platformPages({ sso, campaigns }) {
  const router = express.Router()
  router.get('/marketplace', showMarketplace(sso))
  router.get('/gift', sso.requireLogin(), (req, res) => {
    showGift(res, { campaigns, values: takeDraft(req.session) ?? { country_code: 'GB' } })
  })
  router.post('/gift', express.urlencoded({ extended: false, limit: '10kb' }), checkGift(campaigns))
  router.get('/administrators', sso.requireLogin(), showAdministrators)
  return router
}

/** Needs no identity: a reader's own token when there is one, else the paper's. */
function showMarketplace(sso) {
  return async (req, res) => {
    const asked = await askPlatform(req.originalUrl, () => {
      const api = req.sso2.status === 'loggedin' ? req.sso2.api : sso.api
      return api.marketplaceGroups()
    })
    const { problem, status, answer = [] } = asked
    res.status(status).render('marketplace', { problem, groups: answer.map(presentGroup) })
  }
}

/** What comes from the platform is shown as it is, but for addresses and colours that are none. */
function presentGroup({ name, key, image_url, image_link, rgb, header, description, markets }) {
  const colour = /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(rgb) ? rgb : '#888888'
  return { name, key, header, description, markets, colour, image: webAddress(image_url), link: webAddress(image_link) }
}

function webAddress(text) {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) ? text : undefined
}

function checkGift(campaigns) {
  return async (req, res) => {
    const values = readGift(req.body ?? {})
    const errors = {}
    for (const { name, label } of fields) if (!values[name]) errors[name] = `${label} is missing`
    if (!/^[A-Z]{2}$/.test(values.country_code)) errors.country_code = 'Country code: two letters, for example GB'
    if (Object.keys(errors).length > 0) return showGift(res.status(422), { campaigns, values, errors })

    const { campaign_code, ...delivery_address } = values
    const { problem, status, answer } = await askPlatform('/gift', () =>
      req.sso2.api.validateGiftReceiver({ campaign_code, delivery_address }),
    )
    // The way out of a problem leads through other pages; the site's own session keeps the form meanwhile.
    if (problem && req.session) req.session.giftDraft = values
    showGift(res.status(status), { campaigns, values, problem, eligible: answer })
  }
}

function takeDraft(session) {
  const draft = session?.giftDraft
  if (draft) delete session.giftDraft
  return draft
}

function readGift(body) {
  const text = (name) => (typeof body[name] === 'string' ? body[name].trim().slice(0, 100) : '')
  const values = Object.fromEntries(
    ['campaign_code', ...fields.map(({ name }) => name)].map((name) => [name, text(name)]),
  )
  return { ...values, country_code: values.country_code.toUpperCase() }
}

function showGift(res, { campaigns, values, errors = {}, problem, eligible }) {
  const all = Object.fromEntries(fields.map(({ name }) => [name, values[name] ?? '']))
  const campaign = campaigns.find(({ productCode }) => productCode === values.campaign_code) ?? campaigns[0]
  const chosen = { ...all, campaign_code: campaign?.productCode }
  res.set('Cache-Control', 'no-store')
  res.render('gift', { campaigns, fields, values: chosen, errors, problem, eligible, campaignName: campaign?.name })
}

async function showAdministrators(req, res) {
  const group = typeof req.query.group === 'string' ? req.query.group : ''
  const { problem, status, answer } = await askPlatform(req.originalUrl, async () => {
    const { api } = req.sso2
    const [everyone, members] = await Promise.all([
      api.administratorsByAccount(),
      group === '' ? undefined : api.administrators({ group }),
    ])
    return { everyone, members }
  })
  if (problem) return res.status(status).render('administrators', { problem })
  const { everyone, members } = answer
  const inGroup = members && new Set(members.map(({ account_id }) => account_id))
  res.set('Cache-Control', 'no-store')
  res.render('administrators', {
    problem: undefined,
    group,
    groups: [...new Set(everyone.flatMap(({ groups }) => groups))].sort(),
    administrators: inGroup ? everyone.filter(({ account_id }) => inGroup.has(account_id)) : everyone,
  })
}

module.exports = { platformPages }
