/** How an account came under the control of another one. Accounts without a person stay so, the others for some days. */
export type TieKind = 'invited' | 'provisioned' | 'level' | (typeof lastingKinds)[number]
export const lastingKinds = ['service_key', 'trust_relationship', 'scim_token'] as const

export interface Tie<Kind = TieKind> {
  readonly byId: number
  readonly kind: Kind
}

/** For each account, those that tied it. */
export type Ties = ReadonlyMap<number, readonly Tie[]>

const words = {
  invited: 'invited',
  provisioned: 'provisioned',
  level: 'promoted',
  service_key: 'created',
  trust_relationship: 'created',
  scim_token: 'created',
} as const satisfies Record<TieKind, string>

type Word = (typeof words)[TieKind]

/** Why the approval of one account does not count as that of another person. */
export interface CommonControl {
  readonly reason: `${Word}_by_requester` | `${Exclude<Word, 'promoted'>}_requester`
  /** Through other accounts. */
  readonly isIndirect: boolean
}

const isLasting = ({ kind }: Tie): boolean => lastingKinds.some(lasting => lasting === kind)
const isControl = (tie: Tie): tie is Tie<Exclude<TieKind, 'level'>> => tie.kind !== 'level'
const isAny = (_: Tie): _ is Tie => true

/**
 * Undefined when the accounts are independent. An account without a person acts for those who decide about it. Raising a level is no
 * control, but chooses who approves: it counts only against the requester who did it.
 */
export function commonControl(requesterId: number, approverId: number, ties: Ties): CommonControl | undefined {
  const up = pathTo(requesterId, new Set([approverId]), ties, isControl)
  if (up) {
    const nearest = up.findLast(tie => !isLasting(tie)) ?? up[0]!
    const steps = up.filter(tie => !isLasting(tie)).length || up.length
    return { reason: `${words[nearest.kind]}_requester`, isIndirect: steps > 1 }
  }
  const own = reachable(requesterId, ties, isLasting)
  const down = pathTo(approverId, own, ties, isAny)
  if (!down) return undefined
  const steps = down.filter(tie => !isLasting(tie)).length || down.length
  return { reason: `${words[down[0]!.kind]}_by_requester`, isIndirect: steps > 1 || own.size > 1 }
}

/** The shortest way from the account to one of the targets along those who tied it. */
function pathTo<T extends Tie>(
  from: number,
  targets: ReadonlySet<number>,
  ties: Ties,
  follows: (tie: Tie) => tie is T,
): readonly T[] | undefined {
  const paths = new Map<number, readonly T[]>([[from, []]])
  for (const [id, path] of paths) {
    if (targets.has(id)) return path
    for (const tie of ties.get(id) ?? []) {
      if (follows(tie) && !paths.has(tie.byId)) paths.set(tie.byId, [...path, tie])
    }
  }
  return undefined
}

function reachable(from: number, ties: Ties, follows: (tie: Tie) => boolean): ReadonlySet<number> {
  const reached = new Set([from])
  for (const id of reached) for (const tie of ties.get(id) ?? []) if (follows(tie)) reached.add(tie.byId)
  return reached
}
