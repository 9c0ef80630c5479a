import type { Installations } from './installation.ts'
import type { LoadSource } from './load.ts'
import type { Figure, Size } from './measure.ts'
import type { WorkerBus } from './peers.ts'

/** What every row is given. */
export interface Kit {
  readonly size: Size
  readonly installations: Installations
  readonly load: LoadSource
  readonly peers: WorkerBus
  readonly say: (line: string) => void
}

/** One row of the table, or a few that are measured together. */
export type Row = (kit: Kit) => Promise<readonly Figure[]>
