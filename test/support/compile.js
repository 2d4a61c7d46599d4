const { transformSync } = require('@swc/core')

/** Makes of a source what `npm run build` makes of it. */
function compile(source) {
  const jsc = { parser: { syntax: 'typescript' }, target: 'es2022' }
  return transformSync(source, { jsc, module: { type: 'commonjs' }, isModule: true, swcrc: false }).code
}

module.exports = { compile }
