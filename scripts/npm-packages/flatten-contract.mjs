// The types of the contract derive from its schemas, which costs a compiler seconds for every program that uses them. An application gets
// the result instead: each route with the plain types of its parameters, bodies and responses.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript-5'
import { root } from '../prepare.mjs'

const source = join(root, 'packages/contract/src')
/** Exist in memory only, beside the sources. */
const helperPath = join(source, 'flattened-routes.ts')

/** As much of TypeBox as the declarations of routes and of the client use. */
const schemaTypes = `export interface TSchema {}
/** JSON Schema of values of the type. */
export interface TUnsafe<T> extends TSchema { readonly '~unsafe': T }
export interface TObject<T = any> extends TUnsafe<T> { readonly properties: { readonly [Name in keyof T]: TSchema } }
export type Static<Schema> = Schema extends TUnsafe<infer T> ? T : unknown
`

const helper = `import type { Static, TSchema } from 'typebox'
import type { routes, sdkRoutes } from './index.ts'
export interface TUnsafe<T> { readonly '~unsafe': T }
export interface TObject<T> { readonly '~unsafe': T }
type Schema<S> = S extends TSchema ? TUnsafe<Static<S>> : S
type FlatRoute<R> = {
  [Name in keyof R]: Name extends 'params' | 'query'
    ? R[Name] extends TSchema ? TObject<Static<R[Name]>> : R[Name]
    : Name extends 'responses' ? { [Status in keyof R[Name]]: Schema<R[Name][Status]> }
    : Name extends 'body' | 'refusal' ? Schema<R[Name]>
    : Name extends 'summary' | 'description' ? string : R[Name]
}
type FlatRoutes<Group> = { [Name in keyof Group]: FlatRoute<Group[Name]> }
export declare const flattened: {
  routes: { [Name in keyof typeof routes]: FlatRoutes<(typeof routes)[Name]> }
  sdkRoutes: FlatRoutes<typeof sdkRoutes>
}
`

/** These declarations are used as they are: they do not derive from schemas. */
const plainModules = ['api-client', 'route', 'scopes', 'limits']

/** Replaces the emitted declarations of the contract's entry by flattened ones. */
export function flattenContract(emitted) {
  const folder = join(emitted, 'contract/src')
  writeFileSync(join(folder, 'schema-types.d.ts'), schemaTypes)
  const route = join(folder, 'route.d.ts')
  writeFileSync(route, readFileSync(route, 'utf8').replace(/'typebox'/g, "'./schema-types.ts'"))
  writeFileSync(join(folder, 'index.d.ts'), flattenedIndex())
}

function flattenedIndex() {
  const program = createProgram()
  const checker = program.getTypeChecker()
  const exportsOf = path => checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(path)))
  const entries = exportsOf(join(source, 'index.ts')).map(symbol => ({
    name: symbol.name,
    isTypeOnly: symbol.declarations?.some(ts.isTypeOnlyExportDeclaration) ?? false,
    target: symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
  }))
  const isPlain = ({ target }) => plainModules.some(name => moduleOf(target) === join(source, `${name}.ts`))
  const derived = entries.filter(entry => !isPlain(entry))
  const printer = createPrinter(checker)
  for (const { name, target } of derived) {
    if (target.flags & ts.SymbolFlags.TypeAlias) printer.name(checker.getDeclaredTypeOfSymbol(target), name)
  }
  const [flattened] = exportsOf(helperPath).filter(({ name }) => name === 'flattened')
  const flatTypes = new Map(
    checker
      .getPropertiesOfType(checker.getTypeOfSymbol(flattened))
      .map(symbol => [symbol.name, checker.getTypeOfSymbol(symbol)]),
  )
  const lines = derived.flatMap(({ name, target, isTypeOnly }) => {
    const isType = target.flags & ts.SymbolFlags.TypeAlias
    const isValue = target.flags & ts.SymbolFlags.Variable && !isTypeOnly
    return [
      ...(isType
        ? [`export type ${name} = ${printer.print(checker.getDeclaredTypeOfSymbol(target), { isTop: true })}`]
        : []),
      ...(isValue ? [`export declare const ${name}: ${valueType(name, checker.getTypeOfSymbol(target))}`] : []),
    ]
  })
  function valueType(name, type) {
    if (flatTypes.has(name)) return printer.print(flatTypes.get(name))
    if (name === 'allRoutes') return 'readonly Route[]'
    return checker.getPropertyOfType(type, '~kind') ? `TUnsafe<${name}>` : printer.print(type)
  }
  const reexports = plainModules.map(name => {
    const names = entries
      .filter(({ target }) => moduleOf(target) === join(source, `${name}.ts`))
      .map(entry => entry.name)
    return `export { ${names.join(', ')} } from './${name}.ts'`
  })
  return [
    "import type { Route } from './route.ts'",
    "import type { TObject, TUnsafe } from './schema-types.ts'",
    ...reexports,
    ...lines,
    '',
  ].join('\n')
}

const moduleOf = symbol => symbol.declarations?.[0]?.getSourceFile().fileName

function createProgram() {
  const { config } = ts.readConfigFile(join(root, 'packages/contract/tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, join(root, 'packages/contract'))
  const host = ts.createCompilerHost(options)
  const { fileExists, readFile, getSourceFile } = host
  host.fileExists = path => path === helperPath || fileExists(path)
  host.readFile = path => (path === helperPath ? helper : readFile(path))
  host.getSourceFile = (path, version, ...rest) =>
    path === helperPath ? ts.createSourceFile(path, helper, version) : getSourceFile(path, version, ...rest)
  return ts.createProgram([join(source, 'index.ts'), helperPath], options, host)
}

/** Prints types structurally. A type that the entry exports is printed by its name. */
function createPrinter(checker) {
  const names = new Map()
  const { TypeFlags } = ts

  function print(type, { isTop = false, within = [] } = {}) {
    const name = names.get(type)
    if (name !== undefined && !isTop) return name
    if (within.includes(type)) return 'unknown'
    const inner = each => print(each, { within: [...within, type] })
    const schema = type.symbol?.name
    if (schema === 'TUnsafe' || schema === 'TObject') return `${schema}<${inner(checker.getTypeArguments(type)[0])}>`
    if (type.isUnion()) return union(type.types, inner)
    if (checker.isTupleType(type)) {
      return `${type.target.readonly ? 'readonly ' : ''}[${checker.getTypeArguments(type).map(inner).join(', ')}]`
    }
    if (checker.isArrayType(type)) {
      const isReadonly = type.symbol.name === 'ReadonlyArray'
      return `${isReadonly ? 'readonly ' : ''}(${inner(checker.getTypeArguments(type)[0])})[]`
    }
    const isObject = type.flags & (TypeFlags.Object | TypeFlags.Intersection)
    if (!isObject || type.getCallSignatures().length > 0)
      return checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation)
    return object(type, inner)
  }

  function union(types, inner) {
    const isBoolean = each => each.flags & TypeFlags.BooleanLiteral
    const others = types.filter(each => !isBoolean(each)).map(inner)
    const booleans = types.filter(isBoolean)
    return [...(booleans.length === 2 ? ['boolean'] : booleans.map(inner)), ...others].join(' | ')
  }

  function object(type, inner) {
    const properties = checker.getPropertiesOfType(type).map(symbol => {
      const name = /^(?:[A-Za-z_$][\w$]*|\d+)$/.test(symbol.name) ? symbol.name : JSON.stringify(symbol.name)
      const value = checker.getTypeOfSymbol(symbol)
      if (!(symbol.flags & ts.SymbolFlags.Optional)) return `${name}: ${inner(value)}`
      // JSON has no undefined: it stands for the missing property.
      const types = value.isUnion() ? value.types.filter(each => !(each.flags & TypeFlags.Undefined)) : [value]
      return `${name}?: ${union(types, inner)}`
    })
    const indexes = checker
      .getIndexInfosOfType(type)
      .map(({ keyType, type: value }) => `[key: ${checker.typeToString(keyType)}]: ${inner(value)}`)
    return `{ ${[...properties, ...indexes].join('; ')} }`
  }

  return { print, name: (type, text) => names.set(type, text) }
}
