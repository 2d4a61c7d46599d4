/** Demo data for a start without a configuration: an organisation with two newspapers. All people are invented. */
import type { EmulatorOptions } from './options'

/** The three scopes of the platform. Interface: "Authentication", "REST API". */
export const platformScopes = ['/external/marketing/r', '/external/me/order/r', '/external/admin/r'] as const

const gracesAddress = {
  first_name: 'Grace',
  last_name: 'Hill',
  street: 'Mill Lane',
  street_number: '12',
  zip_code: 'DP2 4AB',
  city: 'Demoville',
  country_code: 'GB',
}

const clients = [
  {
    clientId: 'morning-post',
    clientSecret: 'morning-post-demo-secret-not-for-production',
    name: 'Morning Post',
    landingPage: 'http://localhost:3001/sso2/landing',
  },
  {
    clientId: 'evening-star',
    clientSecret: 'evening-star-demo-secret-not-for-production',
    name: 'Evening Star',
    landingPage: 'http://localhost:3002/sso2/landing',
  },
]

const accounts = [
  {
    accountId: 'account-ada',
    username: 'ada',
    password: 'correct-horse',
    name: 'Ada Lindqvist',
    email: 'ada@demo-press.example',
    groups: ['Editors', 'Subscriptions'],
    created: '2021-03-04T09:30:00',
  },
  {
    accountId: 'account-grace',
    username: 'grace',
    password: 'battery-staple',
    name: 'Grace Hill',
    email: 'grace@demo-press.example',
    scopes: ['/external/marketing/r', '/external/me/order/r'],
    subscriptions: [
      { productCode: 'POST-DAILY', address: gracesAddress, active: true },
      { productCode: 'STAR-EVENING', address: gracesAddress, active: false },
    ],
  },
  {
    accountId: 'account-edsger',
    username: 'edsger',
    password: 'paper-lantern',
    name: 'Edsger Vale',
    email: 'edsger@demo-press.example',
    active: false,
  },
]

const campaigns = [
  { productCode: 'POST-DAILY', name: 'Morning Post, daily for three months', conflictsWith: ['POST-WEEKEND'] },
  { productCode: 'POST-WEEKEND', name: 'Morning Post, weekends for a year', conflictsWith: ['POST-DAILY'] },
  { productCode: 'STAR-EVENING', name: 'Evening Star, every evening for a month' },
]

const marketplaceGroups = [
  {
    name: 'Homes',
    key: 'homes',
    image_url: 'http://localhost:3001/images/homes.svg',
    image_link: 'http://localhost:3001/marketplace#homes',
    rgb: '#2f7d6d',
    header: 'A room with a view',
    description: 'Flats, houses and boats that can be lived in.',
    markets: [
      { name: 'To let', key: 'to-let' },
      { name: 'For sale', key: 'for-sale' },
    ],
  },
  {
    name: 'Things',
    key: 'things',
    image_url: 'http://localhost:3001/images/things.svg',
    image_link: 'http://localhost:3001/marketplace#things',
    rgb: '#5b4b9a',
    header: 'Used, loved, and looking for a shelf',
    description: 'Books, bicycles and the odd barometer.',
    markets: [
      { name: 'Books', key: 'books' },
      { name: 'Bicycles', key: 'bicycles' },
      { name: 'Free to collect', key: 'free' },
    ],
  },
]

/** Returns the demo data as options. `overrides` replaces single keys, for example landing pages or limits. */
export function demoOptions(overrides: EmulatorOptions = {}): EmulatorOptions {
  return { organisationId: 'demo-press', clients, accounts, campaigns, marketplaceGroups, ...overrides }
}
