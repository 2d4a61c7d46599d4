import type { LoginRecord } from '../../lib/decide/record'
import { NOW, type TestSite } from './stores'

const record = { status: 'loggedin' } as LoginRecord
const gone = { next: '', sidHash: 's', account: 'a' }
const logout = { sid: 'the-sid', scope: 'account', accountId: 'ada', since: NOW, ipa: '192.0.2.1', uas: 'x' } as const
const session = { key: 'k', sidHash: 's' }
const lives = { record: 60, data: 60 }

/** Every call of a site that reaches the store. */
export const calls: [name: string, ask: (site: TestSite) => Promise<unknown>][] = [
  ['read', ({ records }) => records.read('k')],
  ['readEntry', ({ records }) => records.readEntry('k')],
  ['begin', ({ records }) => records.begin('k', record, 60)],
  ['update', ({ records }) => records.update('k', record, lives)],
  ['empty', ({ records }) => records.empty('k', 60)],
  ['saveData', ({ records }) => records.saveData('k', 'data', 60, false)],
  ['deleteData', ({ records }) => records.deleteData('k')],
  ['end', ({ records }) => records.end('k', gone)],
  ['remove', ({ records }) => records.remove('k')],
  ['renew', ({ records }) => records.renew('k', lives)],
  ['probe', ({ records }) => records.probe()],
  ['add', ({ accounts }) => accounts.add('a', session, NOW)],
  ['list', ({ accounts }) => accounts.list('a')],
  ['remove', ({ accounts }) => accounts.remove('a', [session])],
  ['markSession', ({ accounts }) => accounts.markSession('s')],
  ['markAccount', ({ accounts }) => accounts.markAccount('a')],
  ['marks', ({ accounts }) => accounts.marks('s', 'a')],
  ['takeCheck', ({ locks }) => locks.takeCheck('k', 4000, NOW, 0)],
  ['failCheck', ({ locks }) => locks.failCheck('k', 4000, NOW)],
  ['endCheck', ({ locks }) => locks.endCheck('k')],
  ['isBeingChecked', ({ locks }) => locks.isBeingChecked('k')],
  ['takeRenewal', ({ locks }) => locks.takeRenewal('k', 10)],
  ['useToken', ({ locks }) => locks.useToken(Buffer.from('x'))],
  [
    'once',
    ({ locks }) =>
      locks.once(
        'k',
        'digest',
        async () => 'ran',
        () => true,
      ),
  ],
  ['add', ({ pendingLogouts }) => pendingLogouts.add(logout)],
  ['find', ({ pendingLogouts }) => pendingLogouts.find('h')],
  ['has', ({ pendingLogouts }) => pendingLogouts.has('h')],
  ['remove', ({ pendingLogouts }) => pendingLogouts.remove('h')],
  ['takeRound', ({ pendingLogouts }) => pendingLogouts.takeRound()],
  ['endRound', ({ pendingLogouts }) => pendingLogouts.endRound()],
  ['due', ({ pendingLogouts }) => pendingLogouts.due(NOW, 8)],
  ['postpone', ({ pendingLogouts }) => pendingLogouts.postpone('h', logout, NOW)],
]
