import { demoOptions, type EmulatorOptions } from '../../lib/emulator'
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
    { ...client(legacy, 'Legacy', false), scopes: [] },
  ],
  accounts: [
    {
      accountId: 'A-ada',
      username: 'ada',
      password: 'correct-horse',
      name: 'Ada Lindqvist',
      email: 'ada@example.com',
      groups: ['Editors', 'Subscriptions'],
      created: '2021-03-04T09:30:00',
    },
    {
      accountId: 'A-grace',
      username: 'grace',
      password: 'battery-staple',
      name: 'Grace Hill',
      email: 'grace@example.com',
      scopes: ['/external/marketing/r', '/external/me/order/r'],
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
    },
  ],
  marketplaceGroups: demoOptions().marketplaceGroups,
  marketplaceEnabled: true,
  campaigns: [
    { productCode: 'DAILY', name: 'Daily' },
    { productCode: 'WEEKEND', name: 'Weekend', conflictsWith: ['DAILY'] },
    { productCode: 'EVENING', name: 'Evening' },
  ],
  // The clients of the suite do not follow the emulator's clock, as sites that run elsewhere do not.
  tokenTime: 'real',
} as const satisfies EmulatorOptions
