import type { Instant } from '../instant.ts'

/** The right of one node to run a job until an instant. The fencing token grows with each holder, so that a late one is detected. */
export interface Lease {
  readonly name: string
  readonly holder: string
  readonly token: number
  readonly expiresAt: Instant
}

export interface LeaseStore {
  /**
   * Acquires a free or expired lease, or extends the holder's own. Undefined when another node holds it. Of several concurrent calls, one
   * succeeds.
   */
  acquire(name: string, holder: string, now: Instant, until: Instant): Promise<Lease | undefined>
  /**
   * Extends the lease and locks its row until the transaction ends, so that no other node can take it meanwhile. False when another node holds
   * it.
   */
  keep(lease: Lease, until: Instant): Promise<boolean>
  /** Releases all leases of a node, so that others need not wait. */
  releaseAll(holder: string): Promise<void>
}
