import { posix } from 'node:path'
import type { BuildFailure, Loader, Message, Plugin } from 'esbuild'
import { invalid, Problem } from '../../../problem.ts'
import { withCompiler } from './compiler-service.ts'
import { checkNesting } from './source-nesting.ts'

/** A plugin's code bundled as one CommonJS script, and which of its files are in it. */
export interface CompiledSource {
  readonly code: string
  readonly fileNames: readonly string[]
}

type Files = ReadonlyMap<string, string>

const loaders: Readonly<Record<string, Loader>> = {
  '.ts': 'ts',
  '.tsx': 'tsx',
  '.mts': 'ts',
  '.cts': 'ts',
  '.js': 'jsx',
  '.jsx': 'jsx',
  '.mjs': 'jsx',
  '.cjs': 'jsx',
  '.json': 'json',
}
const extensions = ['', ...Object.keys(loaders)]
/** What the sandbox's JavaScript engine supports. */
const target = 'es2022'
const fileNamespace = 'plugin'

export const isCodeFile = (name: string): boolean => posix.extname(name) !== '.json' && posix.extname(name) in loaders

/**
 * Bundles the file `main` with the files that it imports. Nothing is read from disk. Packages in `available` stay
 * `require` calls. Raises `invalid` with the file as attr and `file:line:column` in the message.
 */
export async function compileSource(
  files: Files,
  main: string,
  available: ReadonlySet<string>,
): Promise<CompiledSource> {
  try {
    const result = await withCompiler(main, ({ build }) =>
      build({
        entryPoints: [main],
        plugins: [filesOnly(files, available)],
        bundle: true,
        treeShaking: false,
        write: false,
        metafile: true,
        format: 'cjs',
        platform: 'neutral',
        target,
        charset: 'utf8',
        jsx: 'transform',
        tsconfigRaw: {},
        logLevel: 'silent',
      }),
    )
    const inputs = Object.keys(result.metafile.inputs)
    return { code: result.outputFiles[0]!.text, fileNames: inputs.map(name => name.slice(fileNamespace.length + 1)) }
  } catch (error) {
    throw explain(error, main)
  }
}

/** Raises `invalid`, in the same way, for a single file: JSON, or code that nothing imports. */
export async function checkSyntax(name: string, text: string): Promise<void> {
  const loader = loaders[posix.extname(name)]
  if (!loader) return
  try {
    checkNesting(name, text)
    await withCompiler(name, ({ transform }) =>
      transform(text, { loader, sourcefile: name, target, jsx: 'transform', tsconfigRaw: {}, logLevel: 'silent' }),
    )
  } catch (error) {
    throw explain(error, name)
  }
}

/** Resolves imports among the given files and nowhere else. */
function filesOnly(files: Files, available: ReadonlySet<string>): Plugin {
  return {
    name: 'files-only',
    setup(steps) {
      steps.onResolve({ filter: /.*/ }, ({ path, importer, kind }) => {
        if (kind === 'entry-point') return { path, namespace: fileNamespace }
        if (!path.startsWith('.')) {
          if (available.has(path)) return { path, external: true }
          return { errors: [{ text: `The package "${path}" is not available to plugins` }] }
        }
        const file = findFile(files, posix.join(posix.dirname(importer), path))
        return file ? { path: file, namespace: fileNamespace } : { errors: [{ text: `There is no file "${path}"` }] }
      })
      steps.onLoad({ filter: /.*/ }, ({ path }) => {
        const loader = loaders[posix.extname(path)]
        if (!loader) return { errors: [{ text: 'This is not a code file' }] }
        const contents = files.get(path)!
        checkNesting(path, contents)
        return { contents, loader }
      })
    },
  }
}

function findFile(files: Files, path: string): string | undefined {
  const candidates = [...extensions.map(end => path + end), ...extensions.slice(1).map(end => `${path}/index${end}`)]
  const isCompiledName = /\.[cm]?jsx?$/.test(path)
  if (isCompiledName) candidates.push(path.replace(/js(x?)$/, 'ts$1'))
  return candidates.find(candidate => files.has(candidate))
}

function explain(error: unknown, file: string): unknown {
  const first = (error as Partial<BuildFailure>).errors?.[0]
  if (!first) return error
  return first.detail instanceof Problem ? first.detail : fault(first, file)
}

function fault({ text, location }: Message, file: string): Problem {
  const name = location?.file.replace(`${fileNamespace}:`, '') || file
  const position = location ? `${name}:${location.line}:${location.column + 1}` : name
  return invalid(name, 'compile_error', `${position}: ${text}.`)
}
