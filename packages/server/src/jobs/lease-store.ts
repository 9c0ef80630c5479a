import type { Instant } from '../instant.ts'

/** The right of one node to do a job until an instant. The token grows with each new holder, so that a late one is found out. */
export interface Lease {
  readonly name: string
  readonly holder: string
  readonly token: number
  readonly expiresAt: Instant
}

export interface LeaseStore {
  /**
   * Takes the lease when it is free or has run out, or prolongs it when the holder has it already. Undefined when somebody else
   * has it. Of several nodes that ask at once, one gets it.
   */
  acquire(name: string, holder: string, now: Instant, until: Instant): Promise<Lease | undefined>
  /**
   * Prolongs the lease and keeps its row locked until the transaction ends, so that nobody can take it in between. False when
   * somebody else has taken it.
   */
  keep(lease: Lease, until: Instant): Promise<boolean>
  /** Frees everything that a node holds, so that others need not wait. */
  releaseAll(holder: string): Promise<void>
}
