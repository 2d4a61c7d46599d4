const address = { city: 'Lund' }
const receiver = { campaign_code: 'DAILY', delivery_address: address }
const lines = ['first_name', 'last_name', 'street', 'street_number', 'zip_code', 'city', 'country_code']

/** Arguments of `validateGiftReceiver`, each with what the error must name. */
export const badReceivers: [receiver: unknown, named: string][] = [
  [undefined, 'argument'],
  [null, 'argument'],
  ['DAILY', 'argument'],
  [[receiver], 'argument'],
  [{}, 'campaign_code'],
  [{}, 'delivery_address'],
  [{ delivery_address: address }, 'campaign_code'],
  [{ campaign_code: 'DAILY' }, 'delivery_address'],
  [{ ...receiver, campaign_code: '' }, 'campaign_code'],
  [{ ...receiver, campaign_code: 7 }, 'campaign_code'],
  [{ ...receiver, campaign_code: null }, 'campaign_code'],
  [{ ...receiver, campaign_code: ['DAILY'] }, 'campaign_code'],
  [{ ...receiver, delivery_address: null }, 'delivery_address'],
  [{ ...receiver, delivery_address: 'Lund' }, 'delivery_address'],
  [{ ...receiver, delivery_address: [address] }, 'delivery_address'],
  [{ ...receiver, campaignCode: 'DAILY' }, 'campaignCode'],
  [{ ...receiver, delivery_address: { ...address, zip: '22100' } }, 'zip'],
  [{ campaign_code: '', delivery_address: { city: 7 } }, '; delivery_address.city: '],
  ...lines.flatMap((line): [unknown, string][] =>
    [7, null, {}, ['x']].map((value) => [{ ...receiver, delivery_address: { ...address, [line]: value } }, line]),
  ),
]

/** Arguments of `administrators`, each with what the error must name. */
export const badFilters: [filter: unknown, named: string][] = [
  [null, 'argument'],
  ['Editors', 'argument'],
  [7, 'argument'],
  [['Editors'], 'argument'],
  [{ group: '' }, 'group'],
  [{ group: 7 }, 'group'],
  [{ group: null }, 'group'],
  [{ group: ['Editors'] }, 'group'],
  [{ group: '\ud800' }, 'group: must be well-formed Unicode'],
  [{ groups: 'Editors' }, 'groups'],
]

/** Arguments of `get`: with some of them the token would go to another host. */
export const badPaths: unknown[] = [
  ...[undefined, null, 7, {}, '', ['/me'], 'me', '?a=b', ':81/me', '/me\r\nx: y', '/m e', '/mé', '\\me'],
  ...['@other.example/', '.other.example/', 'https://other.example/'],
]
