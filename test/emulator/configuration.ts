import type { EmulatorOptions } from '../../lib/emulator'
import { evening, legacy, morning, organisationId } from './platform'

export const gracesAddress = {
  first_name: 'Grace',
  last_name: 'Hill',
  street: 'Mill Lane',
  street_number: '12',
  zip_code: 'DP2 4AB',
  city: 'Demoville',
  country_code: 'GB',
}

function client(site: typeof morning, name: string, sso2 = true) {
  return { clientId: site.clientId, clientSecret: site.secret, landingPage: site.landingPage, name, sso2 }
}

const scopes = ['/external/marketing/r', '/external/me/order/r', '/external/admin/r']

/** The platform that the conformance suite expects. */
export const configuration = {
  organisationId,
  clients: [
    { ...client(morning, 'Morning'), scopes },
    { ...client(evening, 'Evening'), scopes: ['/external/marketing/r', '/external/me/order/r'] },
    { ...client(legacy, 'Legacy', false), scopes },
  ],
  accounts: [
    {
      accountId: 'A-ada',
      username: 'ada',
      password: 'correct-horse',
      name: 'Ada Lindqvist',
      email: 'ada@example.com',
      active: true,
      groups: ['Editors', 'Subscriptions'],
      subscriptions: [],
      created: '2021-03-04T09:30:00',
    },
    {
      accountId: 'A-grace',
      username: 'grace',
      password: 'battery-staple',
      name: 'Grace Hill',
      email: 'grace@example.com',
      active: true,
      scopes: ['/external/marketing/r', '/external/me/order/r'],
      groups: [],
      subscriptions: [
        { productCode: 'DAILY', address: gracesAddress, active: true },
        { productCode: 'EVENING', address: gracesAddress, active: false },
      ],
    },
    {
      accountId: 'A-otto',
      username: 'otto',
      password: 'paper-lantern',
      name: 'Otto Falk',
      email: 'otto@example.com',
      active: false,
      groups: ['Editors'],
      subscriptions: [],
    },
  ],
  marketplaceGroups: [
    {
      name: 'Homes',
      key: 'homes',
      image_url: 'http://localhost/homes.svg',
      image_link: 'http://localhost/homes',
      rgb: '#2f7d6d',
      header: 'A room',
      description: 'Flats and houses.',
      markets: [{ name: 'To let', key: 'to-let' }],
    },
  ],
  marketplaceEnabled: true,
  campaigns: [
    { productCode: 'DAILY', name: 'Daily', conflictsWith: [] },
    { productCode: 'WEEKEND', name: 'Weekend', conflictsWith: ['DAILY'] },
    { productCode: 'EVENING', name: 'Evening', conflictsWith: [] },
  ],
  // The clients of the suite do not follow the emulator's clock, as sites that run elsewhere do not.
  tokenTime: 'real',
} as const satisfies EmulatorOptions
