import type { ProjectState } from '../api/edge/project-state.ts'
import type { StateFile } from './state-file.ts'

/** Writes the served state to the file, at most one write for many changes. */
export interface StateKeeper {
  /** Call when the state has changed. */
  note(): void
  /** Resolves when all noted changes are on disk, or the write has failed. */
  close(): Promise<void>
}

const pauseMilliseconds = 1000

export function createStateKeeper(
  file: StateFile,
  states: () => readonly ProjectState[],
  onError: (error: unknown) => void,
): StateKeeper {
  let isStale = false
  let isClosing = false
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined

  async function write(): Promise<void> {
    while (isStale) {
      isStale = false
      // A full disk must not stop an edge from serving; the next change retries.
      await file.write(states()).catch(onError)
      if (!isClosing) return
    }
  }

  function begin(): void {
    timer = undefined
    writing ??= write().finally(() => {
      writing = undefined
      if (isStale && !isClosing) schedule()
    })
  }

  function schedule(): void {
    timer ??= setTimeout(begin, pauseMilliseconds)
  }

  return {
    note() {
      isStale = true
      if (writing || timer) return
      begin()
      schedule()
    },
    async close() {
      isClosing = true
      clearTimeout(timer)
      await writing
      await write()
    },
  }
}
