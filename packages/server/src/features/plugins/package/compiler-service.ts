import { Mutex } from '../../../concurrency/mutex.ts'
import { invalid, type Problem } from '../../../problem.ts'

export type Esbuild = typeof import('esbuild')

const compileMsMax = 15_000
/** One source at a time, so that a crash or a timeout is always that source's own. */
const mutex = new Mutex()

/**
 * Runs `work` with esbuild, whose compiler is a process of its own. When that process crashes or takes too long it is
 * stopped, and the next caller starts a new one. Raises `invalid` for the file whose source did it.
 */
export async function withCompiler<T>(file: string, work: (esbuild: Esbuild) => Promise<T>): Promise<T> {
  const esbuild = await import('esbuild')
  return mutex.run(() =>
    runBounded(esbuild, file, work).catch(async error => {
      if (!wasDeadBefore(error)) throw error
      await esbuild.stop()
      return runBounded(esbuild, file, work)
    }),
  )
}

async function runBounded<T>(esbuild: Esbuild, file: string, work: (esbuild: Esbuild) => Promise<T>): Promise<T> {
  let isOverdue = false
  const timer = setTimeout(() => {
    isOverdue = true
    void esbuild.stop()
  }, compileMsMax)
  try {
    return await work(esbuild)
  } catch (error) {
    if (isOverdue) throw compileFault(file, `compiling takes longer than ${compileMsMax / 1_000} seconds.`)
    if (!hasCrashed(error)) throw error
    await esbuild.stop()
    throw compileFault(file, 'the code crashes the compiler; it may be nested too deeply.')
  } finally {
    clearTimeout(timer)
  }
}

/** The process died between two sources, so neither is to blame. */
const wasDeadBefore = (error: unknown): boolean =>
  error instanceof Error && /no longer running|EPIPE/.test(error.message)

const hasCrashed = (error: unknown): boolean => error instanceof Error && error.message.includes('service was stopped')

const compileFault = (file: string, reason: string): Problem => invalid(file, 'compile_error', `${file}: ${reason}`)
