import type { Instant } from '../../instant.ts'

/** A library that evaluates flags or sends events. */
export interface ConnectedSdk {
  readonly library: string
  readonly version: string
  readonly calls: number
  readonly firstSeenAt: Instant
  readonly lastSeenAt: Instant
}

export interface SdkUsageStore {
  /** Last seen first. */
  list(projectId: number): Promise<readonly ConnectedSdk[]>
  /** Adds to the counts. A project that was deleted meanwhile is skipped. */
  add(
    projectId: number,
    calls: readonly Pick<ConnectedSdk, 'library' | 'version' | 'calls'>[],
    at: Instant,
  ): Promise<void>
  removeBefore(at: Instant): Promise<void>
}
