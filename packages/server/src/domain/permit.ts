import type { Origin } from '../origin.ts'
import type { User } from '../tenancy.ts'
import type { FreeObject } from './flag.ts'

/** On what grounds a flag or cohort is written. `authorize.ts` decides whether these suffice. */
export type Permit = DirectPermit | ApprovedPermit | SystemPermit

/** A user or key writes directly; policies and freezes apply. */
export interface DirectPermit {
  readonly kind: 'direct'
  readonly requester: Requester
  readonly emergency: Emergency | null
  /** Why, as the requester said it: stored with the version, or with the change request that is opened instead. */
  readonly note?: string | undefined
}

/** Break glass: policies and freezes are bypassed, and the change is reviewed afterwards. */
export interface Emergency {
  readonly reason: string
  /** The organizations that the user owns: only there is it allowed. */
  readonly organizationIds: ReadonlySet<string>
}

/** An approved change request. Holds for exactly the content that was approved. */
export interface ApprovedPermit {
  readonly kind: 'approved'
  readonly changeRequest: number
  readonly contentHash: string
  /** What a scheduled change is about to do: it must be what was approved. */
  readonly scheduledPayload?: FreeObject
}

/** Halyard itself makes a flag safe. */
export interface SystemPermit {
  readonly kind: 'system'
  readonly cause: 'rollback'
}

export const rollbackPermit: SystemPermit = { kind: 'system', cause: 'rollback' }

export interface Requester {
  readonly user: User
  readonly keyLabel: string | null
  /** By an API key, not by someone who is signed in. */
  readonly isByKey: boolean
  readonly origin?: Origin | undefined
}

/** A scheduled change runs by its approval, or as its creator would: policies that came after it was planned hold for it too. */
export const scheduledPermit = ({ createdBy, approval, payload }: Scheduled): Permit =>
  approval
    ? { kind: 'approved', ...approval, scheduledPayload: payload }
    : { kind: 'direct', requester: { user: createdBy, keyLabel: null, isByKey: false }, emergency: null }

interface Scheduled {
  readonly createdBy: User
  readonly approval: Pick<ApprovedPermit, 'changeRequest' | 'contentHash'> | null
  readonly payload: FreeObject
}
