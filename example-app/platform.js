const { randomBytes } = require('node:crypto')

const organisationId = 'lindenhaven-press'

/** What the gift form offers; the emulator knows the same campaigns. */
const campaigns = [
  { productCode: 'POST-DAILY', name: 'Morning Post, daily for three months', conflictsWith: ['POST-WEEKEND'] },
  { productCode: 'POST-WEEKEND', name: 'Morning Post, weekends for a year', conflictsWith: [] },
  { productCode: 'STAR-EVENING', name: 'Evening Star, every evening for a month', conflictsWith: [] },
]

const scopes = {
  marketing: '/external/marketing/r',
  order: '/external/me/order/r',
  admin: '/external/admin/r',
}

const harbourStreet = {
  first_name: 'Maja',
  last_name: 'Holm',
  street: 'Harbour Street',
  street_number: '4',
  zip_code: 'LH1 2AB',
  city: 'Lindenhaven',
  country_code: 'GB',
}

/** Two accounts to try: a reader, and an administrator of the organisation. All of them are invented. */
const accounts = [
  {
    accountId: 'account-maja',
    username: 'maja',
    password: 'lighthouse',
    name: 'Maja Holm',
    email: 'maja@lindenhaven.example',
    active: true,
    scopes: [scopes.marketing, scopes.order],
    groups: [],
    subscriptions: [{ productCode: 'POST-DAILY', address: harbourStreet, active: true }],
  },
  {
    accountId: 'account-ida',
    username: 'ida',
    password: 'printing-press',
    name: 'Ida Brandt',
    email: 'ida@lindenhaven.example',
    active: true,
    scopes: Object.values(scopes),
    groups: ['Customer service', 'Marketing'],
    subscriptions: [],
  },
  administrator('account-otto', 'otto', 'tide-table', 'Otto Falk', ['Customer service']),
  administrator('account-vera', 'vera', 'ink-ledger', 'Vera Lund', ['Accounting', 'Marketing']),
]

function administrator(accountId, username, password, name, groups) {
  const email = `${username}@lindenhaven.example`
  return {
    accountId,
    username,
    password,
    name,
    email,
    active: true,
    groups,
    subscriptions: [],
  }
}

function marketplaceGroups(imageBase) {
  const group = (key, name, rgb, header, description, markets) => ({
    name,
    key,
    image_url: `${imageBase}/assets/images/${key}.svg`,
    image_link: `${imageBase}/marketplace#group-${key}`,
    rgb,
    header,
    description,
    markets: markets.map((market) => ({ name: market, key: market.toLowerCase().replaceAll(' ', '-') })),
  })
  return [
    group(
      'homes',
      'Homes',
      '#2f7d6d',
      'A room with a view of the harbour',
      'Flats, rooms and boats that can be lived in.',
      ['To let', 'For sale', 'House boats'],
    ),
    group(
      'jobs',
      'Work',
      '#b4532a',
      'Somebody has to wind the clock',
      'Posts in town and on Crane Island, by the hour or for life.',
      ['Full time', 'Part time', 'Apprentices'],
    ),
    group(
      'things',
      'Things',
      '#5b4b9a',
      'Used, loved, and looking for a shelf',
      'Books, bicycles and the odd barometer.',
      ['Books', 'Bicycles', 'Furniture', 'Free to collect'],
    ),
  ]
}

/**
 * The whole platform as the emulator should play it, for two sites.
 *
 * @param {{ morning: string, evening: string }} urls public addresses of the two sites
 * @param {{ morning: Client, evening: Client }} clients ID and secret of each site's API client
 */
function platformOptions(urls, clients) {
  const client = (key, name) => ({
    ...clients[key],
    name,
    landingPage: `${urls[key]}/sso2/landing`,
    sso2: true,
    scopes: Object.values(scopes),
  })
  return {
    organisationId,
    clients: [client('morning', 'Morning Post'), client('evening', 'Evening Star')],
    accounts,
    campaigns,
    marketplaceGroups: marketplaceGroups(urls.morning),
    marketplaceEnabled: true,
  }
}

/** A new API client for a site. Its secret lives as long as the process. */
function makeClient(clientId) {
  return { clientId, clientSecret: makeSecret() }
}

function makeSecret() {
  return randomBytes(32).toString('hex')
}

module.exports = { accounts, campaigns, makeClient, makeSecret, organisationId, platformOptions }
