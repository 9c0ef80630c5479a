import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { cachedDataVersionTag } from 'node:v8'
import { Script } from 'node:vm'

export interface Program {
  /** Where V8's compiled form of the program is kept for this very Node; another version, or other flags, has another file. */
  readonly codePath: string
  /** False when there is no compiled form, or V8 has refused it. */
  readonly isCompiled: boolean
  run(): void
  /** What V8 has compiled until now. */
  compiledCode(): Buffer
}

type Body = (require: NodeJS.Require, programUrl: string) => void

/**
 * The bundle that the build has left beside this file. Compiling it is what takes longest in a start, so the build also leaves
 * what V8 made of it (`scripts/keep-code.mjs`). Without that, or when V8 refuses it, the start is slower and nothing else.
 */
export function loadProgram(): Program {
  const url = new URL('./program.cjs', import.meta.url)
  const path = fileURLToPath(url)
  const codePath = `${path}.${process.arch}-${cachedDataVersionTag()}.code`
  // The bundle is plain ASCII, which needs no decoding.
  const source = readFileSync(path, 'latin1')
  const cachedData = readIfThere(codePath)
  const script = new Script(source, { filename: path, cachedData })
  return {
    codePath,
    isCompiled: cachedData !== undefined && !script.cachedDataRejected,
    run() {
      const body: Body = script.runInThisContext()
      body(createRequire(path), url.href)
    },
    compiledCode: () => script.createCachedData(),
  }
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}
