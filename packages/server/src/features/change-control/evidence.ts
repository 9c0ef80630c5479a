import type { Impact } from '../../domain/policy.ts'
import { Problem } from '../../problem.ts'
import { type FlagGuard, type FlagSave, fingerprintOf } from '../flags/flag-guard.ts'

/** How often a flag may change between its check and its save. */
const roundsMax = 3

/**
 * What decides about a change but takes too long for a transaction: plugins that check it and the number of people it affects. A
 * transaction notes what is missing; that is gathered before it runs again.
 */
export class Evidence {
  readonly #guard: FlagGuard
  readonly #measure: Measure | undefined
  readonly #checked = new Set<string>()
  readonly #measured = new Map<string, Impact | undefined>()
  readonly #checks = new Map<string, number>()
  readonly #measures = new Map<string, number>()
  #unchecked = new Map<string, FlagSave>()
  #unmeasured = new Map<string, FlagSave>()

  /** Without `measure`, no number of people is known. */
  constructor(guard: FlagGuard, measure?: Measure) {
    this.#guard = guard
    this.#measure = measure
  }

  /** A transaction starts, or starts again. */
  begin(): void {
    this.#unchecked = new Map()
    this.#unmeasured = new Map()
  }

  /** Plugins check the flag before it is saved. */
  check(save: FlagSave): void {
    const fingerprint = fingerprintOf(save)
    if (this.#guard.isActive(save.projectId) && !this.#checked.has(fingerprint)) this.#unchecked.set(fingerprint, save)
  }

  /** How many people the change affects. One that is not measured counts as too many. */
  impactOf(save: FlagSave): Impact | undefined {
    const fingerprint = fingerprintOf(save)
    if (this.#measure && !this.#measured.has(fingerprint)) this.#unmeasured.set(fingerprint, save)
    return this.#measured.get(fingerprint)
  }

  get isComplete(): boolean {
    return this.#unchecked.size + this.#unmeasured.size === 0
  }

  /** What was decided before people were counted does not hold. */
  get isMeasured(): boolean {
    return this.#unmeasured.size === 0
  }

  /** Raises `invalid` with the objection of a plugin, and `conflict` when a flag keeps changing meanwhile. */
  async gather(): Promise<void> {
    if (this.#unmeasured.size > 0) {
      for (const [fingerprint, save] of this.#unmeasured) {
        startRound(this.#measures, save)
        this.#measured.set(fingerprint, await this.#measure?.(save))
      }
      return
    }
    for (const [fingerprint, save] of this.#unchecked) {
      startRound(this.#checks, save)
      await this.#guard.check(save)
      this.#checked.add(fingerprint)
    }
  }
}

type Measure = (save: FlagSave) => Promise<Impact | undefined>

/** Counts for each flag, since one request may write many and learn of them one after another. */
function startRound(rounds: Map<string, number>, { projectId, stored, flag }: FlagSave): void {
  const name = `${projectId} ${stored?.id ?? flag.key}`
  const count = rounds.get(name) ?? 0
  if (count === roundsMax) throw keepsChanging()
  rounds.set(name, count + 1)
}

const keepsChanging = (): Problem =>
  new Problem('conflict', 'The flag kept changing while plugins checked it; nothing was changed. Try again.')

/** For jobs, which were checked when they were planned and count no people. */
export const noEvidence = (): Evidence => new Evidence({ isActive: () => false, check: async () => {} })
