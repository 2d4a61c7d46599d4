import { existsSync } from 'node:fs'
import path from 'node:path'
import { readText, root, sources } from '../support/sources'

const page = readText('docs', 'internals', 'protocol.md')
const plain = (text: string) => text.replaceAll('`', '')

/** Headings and bold terms: where a citation may lead. */
const places = [...page.matchAll(/^#+ (.+)$|\*\*(.+?)\*\*/gm)].map(([, heading, term]) => plain(heading ?? term ?? ''))

/** What a source cites: every quoted heading after `Interface:`, up to what is neither quoted nor a link between two. */
function citationsOf(source: string): string[] {
  const lists = source.matchAll(/Interface:\s+("[^"\n]+"(?:(?:, | and )"[^"\n]+")*)/g)
  return [...lists].flatMap(([, list = '']) => [...list.matchAll(/"([^"]+)"/g)].map(([, one = '']) => plain(one)))
}

const citations = [...sources].flatMap(([file, source]) => citationsOf(source).map((cited) => ({ file, cited })))

test('every citation of the interface leads to a place of docs/internals/protocol.md', () => {
  const leads = ({ cited }: { cited: string }) =>
    places.some((place) => place === cited || place.startsWith(`${cited},`))
  expect(citations.length).toBeGreaterThan(30)
  expect(citations.filter((one) => !leads(one))).toEqual([])
})

test('every file that docs/internals/protocol.md names is there', () => {
  const named = new Set([...page.matchAll(/`((?:lib|test)\/[\w./-]+\.ts)`/g)].map(([, file = '']) => file))
  expect(named.size).toBeGreaterThan(30)
  expect([...named].filter((file) => !existsSync(path.join(root, file)))).toEqual([])
})
