/** Weakens a symbol of the sources: a function, a method or a constant, by its name and those around it (`Locks.useToken`). */
const ts = require('typescript')

function nameOf(node) {
  const isSymbol = ts.isFunctionLike(node) || ts.isClassDeclaration(node) || ts.isVariableDeclaration(node)
  return isSymbol ? node.name?.getText() : undefined
}

function childrenOf(node) {
  const children = []
  ts.forEachChild(node, (child) => void children.push(child))
  return children
}

/** Every node, the outer ones first. */
const nodesOf = (node) => [node, ...childrenOf(node).flatMap(nodesOf)]

function findSymbol(file, symbol) {
  let found = file
  for (const name of symbol.split('.')) {
    const outer = found
    found = nodesOf(outer).find((node) => node !== outer && nameOf(node) === name)
    if (!found) throw new Error(`there is no ${symbol}`)
  }
  return found
}

const isNamed = (node, name) => (ts.isIdentifier(node) || ts.isStringLiteral(node)) && node.text === name
const contains = (outer, inner) => outer.pos <= inner.pos && inner.end <= outer.end

/** The innermost statements that mention a name. Of two within one another it is the outer one. */
function statementsWith(symbol, name) {
  const isInnermost = (node) => ts.isStatement(node) && !ts.isBlock(node)
  const mentions = nodesOf(symbol).filter((node) => isNamed(node, name))
  const statements = [...new Set(mentions.map((node) => ts.findAncestor(node, isInnermost)))]
  return statements.filter((one) => !statements.some((other) => other !== one && contains(other, one)))
}

/** What is replaced, and by what. */
function editsOf(node, { returns, value, drop, property }) {
  if (drop !== undefined) return statementsWith(node, drop).map((statement) => [statement, ';'])
  if (property !== undefined) {
    const isProperty = (one) => ts.isPropertyAssignment(one) || ts.isShorthandPropertyAssignment(one)
    const found = nodesOf(node).filter((one) => isProperty(one) && one.name.text === property)
    return found.map((one) => [one, '...{}'])
  }
  const made = ts.isVariableDeclaration(node) ? node.initializer : node
  if (value !== undefined) return [[made, value]]
  return [[made.body, ts.isBlock(made.body) ? `{ ${returns && `return ${returns}`} }` : `(${returns})`]]
}

/**
 * @param weakening `symbol`, and `change`: one of `returns`, `value`, `drop`, `property` (list.js)
 * @returns the changed source
 * @throws {Error} where the change means nothing any more
 */
function weaken(source, { symbol, change }) {
  const tree = ts.createSourceFile('source.ts', source, ts.ScriptTarget.ES2022, true)
  const edits = editsOf(findSymbol(tree, symbol), change)
  if (edits.length === 0) throw new Error(`${symbol} has nothing to weaken`)
  const fromEnd = edits.sort(([a], [b]) => b.pos - a.pos)
  return fromEnd.reduce((text, [node, by]) => text.slice(0, node.getStart()) + by + text.slice(node.end), source)
}

module.exports = { weaken }
