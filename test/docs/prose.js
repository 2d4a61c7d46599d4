#!/usr/bin/env node
/**
 * How plain the prose is: documents, and comments of lib, against fixed budgets. Fails when a figure is
 * worse than its budget. A budget only ever falls. The figures follow from good sentences: never twist a sentence for them.
 *
 *   npm run lint:prose
 *   npm run lint:prose -- --list "riddle opening" documents     prints the sentences
 */
const { existsSync, readdirSync, readFileSync } = require('node:fs')
const path = require('node:path')

const root = path.join(__dirname, '..', '..')
const SINGLE = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'examples/README.md']
/** Generated, or not of the repository. */
const ELSEWHERE = /node_modules|(?:^|\/)api\/|api-report\.md$|docs\/site\//

const files = (folder, ending) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => path.posix.join(folder, file.split(path.sep).join('/')))
    .filter((file) => file.endsWith(ending) && !ELSEWHERE.test(file))

/** The words that a reader sees: names in code count as one. */
const plain = (text) =>
  text
    .replace(/!\[[^\]]*\]\([^)]*\)/g, ' ')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/`+[^`]*`+/g, 'CODE')
    .replace(/<?https?:\S+/g, 'LINK')
    .replace(/<[^>]+>/g, ' ')
    .replace(/[*_~]{1,3}/g, '')
    .replace(/\s+/g, ' ')
    .trim()

/** Paragraphs and list items, without code, tables and headings. */
function paragraphs(markdown) {
  const lines = markdown
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/<picture>[\s\S]*?<\/picture>/g, '')
    .replace(/^ *```[\s\S]*?^ *```$/gm, '')
    .split('\n')
  const found = ['']
  for (const line of lines) {
    const isOther = /^\s*$|^#{1,6} |^\s*\||^---/.test(line)
    const item = /^\s*(?:[-*]|\d+\.)\s+(?:\[[ x]\]\s+)?(.*)$/.exec(line)
    if (isOther) found.push('')
    else if (item) found.push(item[1])
    else found[found.length - 1] += ` ${line.replace(/^\s*>\s?/, '')}`
  }
  return found.map(plain).filter(Boolean)
}

/** Doc comments and line comments. */
function comments(source) {
  const blocks = [...source.matchAll(/\/\*\*?([\s\S]*?)\*\//g)].map(([, text]) =>
    text
      .replace(/^\s*\*\s?/gm, '')
      .replace(/\{@link\s+([^}|]+)[^}]*\}/g, '$1')
      .replace(/@(?:param|returns?|throws|see)\b/g, '. '),
  )
  const lines = [...source.matchAll(/(?:^|\s)\/\/ (?!biome)(.*)/g)].map(([, text]) => text)
  return [...blocks, ...lines].map(plain).filter(Boolean)
}

const words = (text) => text.match(/[A-Za-z0-9][A-Za-z0-9'’./-]*/g) ?? []
const sentencesIn = (text) =>
  text
    .replace(/\b(e\.g|i\.e|etc|vs)\./gi, '$1')
    .split(/(?<=[.!?])["')\]]*\s+(?=["'([]*[A-Z0-9])/)
    .filter((sentence) => words(sentence).length > 1)

const RIDDLE =
  /^["'(]*(?:what|whatever|who|whoever|whose|whom|where|wherever|nobody|no one|nothing|somebody|someone|something|everything|anybody|everybody|one|such|neither|else|likewise|of|which|the same|nor)\b/i
const RULES = {
  'riddle opening': (sentence) => RIDDLE.test(sentence) && !sentence.endsWith('?'),
  semicolon: (sentence) => sentence.includes(';'),
  'nobody, whoever': (sentence) => /\b(?:whoever|nobody|somebody|whatever|anybody)\b/i.test(sentence),
  'he, him, his': (sentence) => /\b(?:he|him|his)\b/i.test(sentence),
  'own metaphor': (sentence) =>
    /\b(?:bury|buried|buries|trips?|told|tells|anew|as ever|strangers?|heals?|the head of|comes to|word of|under way)\b/i.test(
      sentence,
    ),
}

const SETS = {
  documents: [...SINGLE.filter((file) => existsSync(path.join(root, file))), ...files('docs', '.md')].map((file) => [
    file,
    paragraphs(readFileSync(path.join(root, file), 'utf8')),
  ]),
  comments: files('lib', '.ts').map((file) => [file, comments(readFileSync(path.join(root, file), 'utf8'))]),
}

/** Percent of the sentences for each rule; words in each; "it", "this" and "one" in a thousand words. */
function figuresOf(sentences) {
  const text = sentences.map(({ sentence }) => sentence).join(' ')
  const count = words(text).length
  const shares = Object.entries(RULES).map(([rule, breaks]) => [
    rule,
    (100 * sentences.filter(({ sentence }) => breaks(sentence)).length) / sentences.length,
  ])
  const pronouns = text.match(/\b(?:it|its|this|that|those|these|one|ones)\b/gi) ?? []
  return {
    'words a sentence': count / sentences.length,
    ...Object.fromEntries(shares),
    'it, this, one in 1,000 words': (1000 * pronouns.length) / count,
  }
}

/** @param args `--list rule set` prints sentences; `--budgets file` takes other budgets */
function main([flag, rule, set]) {
  const budgets = require(flag === '--budgets' ? path.resolve(rule) : './prose-budgets.json')
  let failed = 0
  for (const [name, found] of Object.entries(SETS)) {
    const sentences = found.flatMap(([file, texts]) =>
      texts.flatMap(sentencesIn).map((sentence) => ({ file, sentence })),
    )
    if (flag === '--list') {
      if (set !== undefined && set !== name) continue
      for (const { file, sentence } of sentences) if (RULES[rule]?.(sentence)) console.log(`${file}: ${sentence}`)
      continue
    }
    for (const [what, figure] of Object.entries(figuresOf(sentences))) {
      const budget = budgets[what]
      const isOver = !(figure <= budget)
      failed += isOver ? 1 : 0
      console.log(
        `${isOver ? 'OVER' : 'ok  '}  ${name.padEnd(9)}  ${what.padEnd(28)}  ${figure.toFixed(2)} of ${budget}`,
      )
    }
  }
  return failed === 0 ? 0 : 1
}

process.exitCode = main(process.argv.slice(2))
