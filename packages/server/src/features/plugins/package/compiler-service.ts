import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import * as esbuild from 'esbuild'
import { Mutex } from '../../../concurrency/mutex.ts'
import { invalid, Problem } from '../../../problem.ts'

export type Esbuild = typeof esbuild

const compileMsMax = 10_000
/** More than Node opens to start a process with three pipes. */
const descriptorsToStart = 16
/** One source at a time, so that a crash or a timeout is always that source's own. */
const mutex = new Mutex()

/**
 * Runs `work` with esbuild, whose compiler is a process of its own. When that process crashes or takes too long it is
 * stopped, and the next caller starts a new one. Raises `invalid` for the file whose source did it.
 */
export async function withCompiler<T>(
  file: string,
  work: (esbuild: Esbuild) => Promise<T>,
  msMax = compileMsMax,
): Promise<T> {
  return mutex.run(() =>
    runBounded(file, work, msMax).catch(async error => {
      if (!wasDeadBefore(error)) throw error
      await esbuild.stop()
      return runBounded(file, work, msMax)
    }),
  )
}

async function runBounded<T>(file: string, work: (esbuild: Esbuild) => Promise<T>, msMax: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const overdue = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(compileFault(file, `compiling takes longer than ${msMax / 1_000} seconds.`)), msMax)
  })
  assertDescriptors(descriptorsToStart)
  const working = work(esbuild)
  // A stopped process never settles what it was doing, so nothing waits for it.
  working.catch(() => {})
  try {
    return await Promise.race([working, overdue])
  } catch (error) {
    if (error instanceof Problem) await esbuild.stop()
    if (!hasCrashed(error)) throw error
    await esbuild.stop()
    throw compileFault(file, 'the code crashes the compiler; it may be nested too deeply.')
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Throws EMFILE unless so many file descriptors are free. Starting a process without them ends this one: Node reports the failure with an
 * event that esbuild does not listen to. `work` starts the process before anything else can use them.
 */
function assertDescriptors(count: number): void {
  const opened: number[] = []
  try {
    while (opened.length < count) opened.push(openSync(devNull, 'r'))
  } finally {
    for (const descriptor of opened) closeSync(descriptor)
  }
}

/** The process died between two sources, so neither is to blame. */
const wasDeadBefore = (error: unknown): boolean =>
  error instanceof Error && /no longer running|EPIPE/.test(error.message)

const hasCrashed = (error: unknown): boolean => error instanceof Error && error.message.includes('service was stopped')

const compileFault = (file: string, reason: string): Problem => invalid(file, 'compile_error', `${file}: ${reason}`)
