import type { User } from '../../tenancy.ts'
import type { FreeObject } from '../flags/flag.ts'
import type { FlagSave } from '../flags/flag-guard.ts'
import type { Impact } from './policies/policy.ts'

/**
 * On what grounds a flag or cohort is written: a required argument of every use case that does. `authorize-write.ts` checks it inside the
 * transaction, so no caller can write what needs approval.
 */
export type Permit = DirectPermit | ApprovedPermit | SystemPermit

/** A user or key writes directly; policies and freezes apply. */
export interface DirectPermit extends SaveChecks {
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
export interface ApprovedPermit extends SaveChecks {
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
}

/** Work that takes too long for a transaction is collected here and done before the transaction runs again. */
export interface SaveChecks {
  /** Plugins check the flag before it is saved. */
  readonly checkSave: (save: FlagSave) => void
  /** How many people the change affects; undefined until it is measured. */
  readonly impactOf: (save: FlagSave) => Impact | undefined
}

/** For work that nothing else can hold up. */
const withoutChecks: SaveChecks = { checkSave: () => {}, impactOf: () => undefined }

/** A scheduled change runs by its approval, or as its creator would: policies that came after it was planned hold for it too. */
export const scheduledPermit = ({ createdBy, approval, payload }: Scheduled): Permit =>
  approval
    ? { kind: 'approved', ...approval, scheduledPayload: payload, ...withoutChecks }
    : {
        kind: 'direct',
        requester: { user: createdBy, keyLabel: null, isByKey: false },
        emergency: null,
        ...withoutChecks,
      }

interface Scheduled {
  readonly createdBy: User
  readonly approval: Pick<ApprovedPermit, 'changeRequest' | 'contentHash'> | null
  readonly payload: FreeObject
}
