import type { ProjectState } from '../api/edge/project-state.ts'
import type { StateFile } from './state-file.ts'

/** Keeps the file up to date with what is served, without writing it for every single change. */
export interface StateKeeper {
  /** There is something new. */
  note(): void
  /** Resolves when everything noted is on disk, as far as the disk takes it. */
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
      // A disk that is full must not keep an edge from serving; the next change tries again.
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
