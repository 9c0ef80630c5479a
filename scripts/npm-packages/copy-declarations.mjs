import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

// A description that ends with the word "import" is followed by a quote as well, but not by a name.
const importPattern = /((?:from|import)\s*\(?\s*)(['"])([^'"\s]+)\2/g

/**
 * Copies the declarations that the entries reach, and no others. Workspace packages that are bundled come along, so that the types
 * need no package that is not installed. `format` is `js` or `cjs`: each module format has declarations of its own.
 */
export function copyDeclarations({ name, emitted, dist, names, isExternal, format }) {
  const types = join(dist, format === 'cjs' ? 'types-cjs' : 'types')
  const extension = format === 'cjs' ? '.d.cts' : '.d.ts'
  const pending = names.map(entry => join(emitted, name, 'src', `${entry}.d.ts`))
  const copied = new Set()
  while (pending.length > 0) {
    const file = pending.pop()
    if (copied.has(file)) continue
    copied.add(file)
    const text = readFileSync(file, 'utf8').replace(importPattern, (whole, head, quote, target) => {
      const declaration = declarationOf(file, target)
      if (declaration === undefined) {
        if (isExternal(packageOf(target))) return whole
        throw new Error(`${relative(emitted, file)} refers to ${target}, which is not a dependency of ${name}.`)
      }
      pending.push(declaration)
      const path = relative(dirname(file), declaration)
        .replaceAll('\\', '/')
        .replace(/\.d\.ts$/, `.${format}`)
      return `${head}${quote}${path.startsWith('.') ? path : `./${path}`}${quote}`
    })
    write(join(types, relative(emitted, file)).replace(/\.d\.ts$/, extension), text)
  }
  for (const entry of names) {
    const target = `./${relative(dist, types)}/${name}/src/${entry}.${format}`
    write(join(dist, `${entry}${extension}`), `export * from '${target}'\n`)
  }

  function declarationOf(file, target) {
    if (target.startsWith('.')) return join(dirname(file), target.replace(/\.tsx?$/, '.d.ts'))
    if (isExternal(packageOf(target))) return undefined
    const own = /^@halyard\/([\w-]+)$/.exec(target)?.[1]
    const index = own && join(emitted, own, 'src/index.d.ts')
    return index && existsSync(index) ? index : undefined
  }
}

const packageOf = target => /^(?:@[^/]+\/)?[^/]+/.exec(target)[0]

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
