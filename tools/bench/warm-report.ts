import { number, ratio, show, spread, table } from '../figures'
import type { Options } from './options'
import { type Measured, series } from './rounds'
import { measureOf, type Results } from './warm'

/** The table of warm requests, as Markdown. */
export function report(all: readonly Results[], { rounds, requests }: Options, readers: number): string {
  const plain = measureOf(all)
  const bare = all.find(({ row }) => row.name === 'bare')
  const lines = all.map((one) => ({ ...speed(one, plain), ...store(one), ...memory(one, bare) }))
  const about = `Medians (and quartiles) of ${rounds} rounds, ${readers} readers; ratios are to *plain*, round by round; memory at rest after ${number(requests)} requests.`
  return `${about}\n\n${table(lines)}\n`
}

function speed(one: Results, plain: Results): Record<string, string> {
  const of = (connections: number, name: keyof Measured) => spread(series(one, connections, name))
  const against = (connections: number, name: keyof Measured) =>
    show(ratio(series(one, connections, name), series(plain, connections, name)), 2)
  const rate = (connections: number) =>
    `${number(of(connections, 'perSecond').median)} · ${against(connections, 'perSecond')}`
  const time = (connections: number) =>
    `${number(of(connections, 'p50').median, 2)} · ${number(of(connections, 'p99').median, 2)}`
  return {
    row: one.row.title,
    'CPU a request, us': show(of(32, 'cpu')),
    'CPU / plain': against(32, 'cpu'),
    'requests/s, 1 conn.': rate(1),
    '32 conn.': rate(32),
    '128 conn.': rate(128),
    'p50 · p99 ms, 1 conn.': time(1),
    '32 conn. ': time(32),
    'p50 / plain, 1 · 32': `${against(1, 'p50')} · ${against(32, 'p50')}`,
    'p99 / plain, 1 · 32': `${against(1, 'p99')} · ${against(32, 'p99')}`,
  }
}

function store(one: Results): Record<string, string> {
  const of = (connections: number, name: keyof Measured) => number(spread(series(one, connections, name)).median, 2)
  return {
    'Redis commands, 1 · 32': `${of(1, 'commands')} · ${of(32, 'commands')}`,
    'round trips': of(1, 'trips'),
    'Set-Cookie': of(32, 'setCookies'),
  }
}

function memory({ memory: used }: Results, bare: Results | undefined): Record<string, string> {
  const mebibytes = (bytes: number | undefined) => number((bytes ?? Number.NaN) / 2 ** 20, 1)
  const over = used && bare?.memory ? `${mebibytes(used.rss - bare.memory.rss)}` : ''
  return { 'MiB resident · heap': `${mebibytes(used?.rss)} · ${mebibytes(used?.heap)}`, 'MiB over bare': over }
}
