/** docs/internals/api-report.md: every exported name with its signature, from the declarations that the package is built with. */
import path from 'node:path'
import ts from 'typescript'
import { root } from '../support/sources'
import { ENTRIES, sourceOf } from './program'

const HEAD = `# API report

<!-- Written by \`npm run docs\` from the built declarations: do not edit. -->

All exported names with their signatures. A test compares this page with the build, so that no release changes a name or a type by accident.
A change of this page belongs into CHANGELOG.md. The [API reference](../api/README.md) explains the names.
`

export function apiReport(program: ts.Program): string {
  const checker = program.getTypeChecker()
  const dist = path.join(root, 'dist')
  const parts = Object.entries(ENTRIES).map(
    ([name, file]) => `## ${name}\n\n${signatures(checker, sourceOf(program, file), dist)}`,
  )
  return `${[HEAD.trimEnd(), ...parts].join('\n\n')}\n`
}

/** A statement of a declaration file, and what it says of the world outside. */
type Statement = ts.DeclarationStatement | ts.VariableStatement

const isStatement = (node: ts.Node): node is Statement =>
  ts.isSourceFile(node.parent) && (ts.isVariableStatement(node) || ts.isDeclarationStatement(node))

function signatures(checker: ts.TypeChecker, source: ts.SourceFile, dist: string): string {
  const module = checker.getSymbolAtLocation(source)
  const exported = module ? checker.getExportsOfModule(module).map((symbol) => resolved(checker, symbol)) : []
  const shown = new Map<ts.Symbol, Statement[]>()
  const imports = new Map<string, Set<string>>()
  const queue = [...exported]
  for (let symbol = queue.shift(); symbol; symbol = queue.shift()) {
    if (shown.has(symbol)) continue
    const statements = (symbol.declarations ?? []).flatMap(statementOf).filter((one) => isIn(dist, one))
    shown.set(symbol, statements)
    for (const statement of statements) queue.push(...mentioned(checker, statement, dist, imports))
  }
  const hidden = [...shown.keys()].filter((symbol) => !exported.includes(symbol))
  const files = new Set([...shown.values()].flat().map((statement) => statement.getSourceFile()))
  const augmentations = [...files].flatMap((file) => file.statements.filter(isGlobal).map((one) => printed(one)))
  const print = (symbols: readonly ts.Symbol[], isExported: boolean) =>
    symbols
      .filter((symbol) => (shown.get(symbol) ?? []).length > 0)
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((symbol) => (shown.get(symbol) ?? []).map((one) => withExport(printed(one), isExported)))
  const parts = [
    [...imports].map(([from, names]) => importText(from, [...names])).sort(),
    print(exported, true),
    hidden.length > 0 ? ['// not exported, and part of a signature'] : [],
    print(hidden, false),
  ]
  const declared = parts.filter((part) => part.length > 0).map((part) => part.join('\n'))
  const added = augmentations.map((text) => `It adds to the types of others:\n\n\`\`\`\n${text}\n\`\`\``)
  return [`\`\`\`ts\n${declared.join('\n\n')}\n\`\`\``, ...added].join('\n\n')
}

const resolved = (checker: ts.TypeChecker, symbol: ts.Symbol) =>
  symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol

const isIn = (folder: string, node: ts.Node) => node.getSourceFile().fileName.startsWith(`${folder}/`)

const isGlobal = (statement: ts.Statement) =>
  ts.isModuleDeclaration(statement) && (statement.flags & ts.NodeFlags.GlobalAugmentation) !== 0

function statementOf(declaration: ts.Node): Statement[] {
  for (let node = declaration; node && !ts.isSourceFile(node); node = node.parent) if (isStatement(node)) return [node]
  return []
}

/** Symbols of ours that a statement names; of others, where they come from goes into `imports`. */
function mentioned(
  checker: ts.TypeChecker,
  statement: Statement,
  dist: string,
  imports: Map<string, Set<string>>,
): ts.Symbol[] {
  const found: ts.Symbol[] = []
  const visit = (node: ts.Node) => {
    node.forEachChild(visit)
    const symbol = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node) : undefined
    const [declaration] = symbol?.declarations ?? []
    if (!symbol || !declaration || ts.isTypeParameterDeclaration(declaration)) return
    const target = resolved(checker, symbol)
    if ((target.declarations ?? []).some((one) => isIn(dist, one))) {
      if ((target.declarations ?? []).some((one) => isTopLevel(one))) found.push(target)
    } else noteImport(declaration, imports)
  }
  visit(statement)
  return found
}

const isTopLevel = (declaration: ts.Node) =>
  isStatement(declaration) || (ts.isVariableDeclaration(declaration) && statementOf(declaration).length > 0)

function noteImport(declaration: ts.Node, imports: Map<string, Set<string>>): void {
  const clause = ts.isImportSpecifier(declaration) ? declaration.parent.parent : declaration
  if (!ts.isImportClause(clause) || !ts.isStringLiteral(clause.parent.moduleSpecifier)) return
  const from = clause.parent.moduleSpecifier.text
  const name = declaration === clause ? `default as ${clause.name?.text}` : declaration.getText()
  imports.set(from, (imports.get(from) ?? new Set()).add(name.replace(/^type /, '')))
}

const importText = (from: string, names: readonly string[]) =>
  `import type { ${[...names].sort().join(', ')} } from '${from}'`

const printer = ts.createPrinter({ removeComments: true })

const printed = (node: ts.Node) => printer.printNode(ts.EmitHint.Unspecified, node, node.getSourceFile())

/** What is exported under a name of its own is declared with it or without: here it tells the two apart. */
function withExport(text: string, isExported: boolean): string {
  const bare = text.replace(/^export /, '')
  return isExported ? `export ${bare}` : bare
}
