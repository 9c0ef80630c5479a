import type { Installations } from './installation.ts'
import type { LoadSource } from './load.ts'
import type { Figure, Size } from './measure.ts'
import type { Peers } from './peers.ts'

/** Dependencies of a row. */
export interface RowContext {
  readonly size: Size
  readonly installations: Installations
  readonly load: LoadSource
  readonly peers: Peers
  readonly log: (line: string) => void
}

/** One benchmark, which produces one or more figures. */
export type Row = (context: RowContext) => Promise<readonly Figure[]>
