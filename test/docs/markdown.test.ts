import { anchorsOf, blocksOf, headingsOf } from '../support/markdown'
import { linesIn } from './shell-lines'

/* What the tests of the documentation rely on. */

const page = `# A page, with \`code\`

## Again

In \`site.mjs\`:

\`\`\`js
# no heading
1
\`\`\`

<!-- continues -->

\`\`\`ts
2
\`\`\`

- in a list

  \`\`\`sh
  npm install \\
    express # why
  # a comment
  npm start
  \`\`\`

## Again

<a id="place"></a>
`

test('headings have the anchors that GitHub gives them, and code has none', () => {
  expect(headingsOf(page).map(({ anchor }) => anchor)).toEqual(['a-page-with-code', 'again', 'again-1'])
  expect(anchorsOf(page)).toEqual(new Set(['a-page-with-code', 'again', 'again-1', 'place']))
})

test('blocks are found with the comment and the file before them, in lists too', () => {
  expect(blocksOf(page).map(({ language, code, note, file }) => [language, code, note, file])).toEqual([
    ['js', '# no heading\n1\n', undefined, 'site.mjs'],
    ['ts', '2\n', 'continues', undefined],
    ['sh', 'npm install \\\n  express # why\n# a comment\nnpm start\n', undefined, undefined],
  ])
})

test('a command on two lines is one, and its comments are none', () => {
  expect(linesIn('docs/page.md', page).map(({ line }) => line)).toEqual(['npm install express', 'npm start'])
})
