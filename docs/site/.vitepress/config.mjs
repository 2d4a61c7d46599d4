import { readFileSync } from 'node:fs'
import { withMermaid } from 'vitepress-plugin-mermaid'

/** As GitHub makes anchors, so that a link works in both places. */
const slugify = (title) =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-')

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1)

/** The groups and the order of the section "Documentation" in the README. */
function sidebar() {
  const readme = readFileSync(new URL('../.pages/index.md', import.meta.url), 'utf8')
  const contents = readme.slice(readme.indexOf('\n## Documentation\n'))
  return [...contents.matchAll(/^- \*\*(.+?):\*\* (.+)$/gm)].map(([, text, links]) => ({
    text,
    items: [...links.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, title, to]) => ({
      text: capital(title.replaceAll('`', '')),
      link: `/${to.replace(/^\.\//, '').replace(/\.md(?=$|#)/, '')}`,
    })),
  }))
}

export default withMermaid({
  title: 'express-sso2',
  description: 'Express middleware for SSO2, the single sign-on of newspaper subscription platforms',
  lang: 'en',
  ignoreDeadLinks: 'localhostLinks',
  srcDir: '.pages',
  outDir: 'dist',
  cacheDir: '.cache',
  markdown: {
    anchor: { slugify },
    linkify: false, // addresses such as https://api.example are no links
    languageAlias: { mjs: 'js' },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  themeConfig: {
    nav: [
      { text: 'Quick start', link: '/quick-start' },
      { text: 'Recipes', link: '/recipes' },
      { text: 'Options', link: '/options' },
      { text: 'Troubleshooting', link: '/troubleshooting' },
    ],
    sidebar: sidebar(),
    outline: { level: [2, 3] },
    search: { provider: 'local' },
  },
})
