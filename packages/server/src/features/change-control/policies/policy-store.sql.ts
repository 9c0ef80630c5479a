import type { Kysely, Selectable } from 'kysely'
import type { ActionKey, ApprovalPolicy, Approvers, NamingPolicy, PolicyFilter } from '../../../domain/policy.ts'
import type { PageOf, Window } from '../../../pagination.ts'
import { preparedQuery } from '../../../storage/prepared-query.ts'
import { countRows, readPage } from '../../../storage/read-page.ts'
import { saveVersioned } from '../../../storage/save-row.ts'
import type { Tables } from '../../../storage/tables.generated.ts'
import { adminLevel, memberLevel } from '../../../tenancy.ts'
import { type EmbeddedUser, embeddedUser, readUser } from '../../identity/embedded-user.sql.ts'

const policiesIn = (db: Kysely<Tables>) =>
  db
    .selectFrom('approval_policies')
    .innerJoin('users as creator', 'creator.id', 'approval_policies.created_by_id')
    .selectAll('approval_policies')
    .select(embeddedUser('creator'))

/** Runs in every write of a flag or cohort. */
const findEnabled = preparedQuery((db, { projectId }: { projectId: number }) =>
  policiesIn(db)
    .where('approval_policies.project_id', '=', projectId)
    .where('approval_policies.enabled', '=', 1)
    .orderBy('approval_policies.id'),
)

export function sqlPolicyStore(db: Kysely<Tables>) {
  async function approversOf(policyIds: readonly number[]): Promise<ReadonlyMap<number, Approvers>> {
    const byPolicy = new Map<number, { users: number[]; roles: string[] }>()
    if (policyIds.length === 0) return byPolicy
    const rows = await db
      .selectFrom('approval_policy_approvers')
      .selectAll()
      .where('policy_id', 'in', policyIds)
      .orderBy('id')
      .execute()
    for (const { policy_id, user_id, role_id } of rows) {
      const approvers = byPolicy.get(policy_id) ?? { users: [], roles: [] }
      if (user_id !== null) approvers.users.push(user_id)
      if (role_id !== null) approvers.roles.push(role_id)
      byPolicy.set(policy_id, approvers)
    }
    return byPolicy
  }

  async function withApprovers(rows: readonly PolicyJoin[]): Promise<readonly ApprovalPolicy[]> {
    const approvers = await approversOf(rows.map(({ id }) => id))
    return rows.map(row => toPolicy(row, approvers.get(row.id) ?? { users: [], roles: [] }))
  }

  async function setApprovers(policyId: number, { users, roles }: Approvers): Promise<void> {
    await db.deleteFrom('approval_policy_approvers').where('policy_id', '=', policyId).execute()
    const rows = [
      ...users.map(user_id => ({ policy_id: policyId, user_id, role_id: null })),
      ...roles.map(role_id => ({ policy_id: policyId, user_id: null, role_id })),
    ]
    if (rows.length > 0) await db.insertInto('approval_policy_approvers').values(rows).execute()
  }

  return {
    async create(policy: Omit<ApprovalPolicy, 'id'>): Promise<ApprovalPolicy> {
      const { id } = await db
        .insertInto('approval_policies')
        .values(fromPolicy(policy))
        .returning('id')
        .executeTakeFirstOrThrow()
      await setApprovers(id, policy.approvers)
      return { ...policy, id }
    },
    /** Throws `StaleWrite` unless the version is exactly one above the stored one. */
    async save(policy: ApprovalPolicy): Promise<void> {
      await saveVersioned(db, 'approval_policies', policy.id, fromPolicy(policy))
      await setApprovers(policy.id, policy.approvers)
    },
    async remove(policyId: number): Promise<void> {
      await db.deleteFrom('approval_policies').where('id', '=', policyId).execute()
    },
    async find(projectId: number, policyId: number): Promise<ApprovalPolicy | undefined> {
      const row = await policiesIn(db)
        .where('approval_policies.project_id', '=', projectId)
        .where('approval_policies.id', '=', policyId)
        .executeTakeFirst()
      return row && (await withApprovers([row]))[0]
    },
    /** Newest first. */
    async list(
      projectId: number,
      { actionKey, enabled }: PolicyFilter,
      window: Window,
    ): Promise<PageOf<ApprovalPolicy>> {
      let query = policiesIn(db).where('approval_policies.project_id', '=', projectId)
      if (actionKey !== undefined) query = query.where('approval_policies.action_key', '=', actionKey)
      if (enabled !== undefined) query = query.where('approval_policies.enabled', '=', Number(enabled))
      const page = await readPage(query.orderBy('approval_policies.id', 'desc'), window, row => row as PolicyJoin)
      return { count: page.count, items: await withApprovers(page.items) }
    },
    /** The enabled policies of a project. */
    async listEnabled(projectId: number): Promise<readonly ApprovalPolicy[]> {
      const { rows } = await findEnabled(db, { projectId })
      return rows.length === 0 ? [] : withApprovers(rows)
    },
    count: (projectId: number): Promise<number> =>
      countRows(db.selectFrom('approval_policies').where('project_id', '=', projectId)),
    /** Policies of the organization, disabled ones too, that name the role: whose members approve or break the glass. */
    async listNaming(organizationId: string, roleId: string): Promise<readonly NamingPolicy[]> {
      const rows = await db
        .selectFrom('approval_policies')
        .innerJoin('projects', 'projects.id', 'approval_policies.project_id')
        .select(['approval_policies.id', 'approval_policies.action_key', 'projects.name'])
        .where('projects.organization_id', '=', organizationId)
        .where(({ or, eb, exists, selectFrom }) =>
          or([
            eb('approval_policies.emergency_roles', 'like', `%${JSON.stringify(roleId)}%`),
            exists(
              selectFrom('approval_policy_approvers')
                .select('approval_policy_approvers.id')
                .whereRef('approval_policy_approvers.policy_id', '=', 'approval_policies.id')
                .where('approval_policy_approvers.role_id', '=', roleId),
            ),
          ]),
        )
        .orderBy('approval_policies.id')
        .execute()
      return rows.map(({ id, action_key, name }) => ({ id, actionKey: action_key as ActionKey, projectName: name }))
    },
    /** Ids of the active members who can approve now: named, or in a named role; every admin when no one is named. */
    async eligible(organizationId: string, { users, roles }: Approvers): Promise<ReadonlySet<number>> {
      const members = db
        .selectFrom('memberships')
        .innerJoin('users', 'users.id', 'memberships.user_id')
        .select('users.id')
        .where('memberships.organization_id', '=', organizationId)
        .where('users.is_active', '=', 1)
        .where('users.is_service', '=', 0)
        .where('memberships.level', '>=', memberLevel)
      const isAnyAdmin = users.length + roles.length === 0
      const rows = await members
        .where(({ eb, or, exists, selectFrom }) =>
          isAnyAdmin
            ? eb('memberships.level', '>=', adminLevel)
            : or([
                ...(users.length > 0 ? [eb('users.id', 'in', users)] : []),
                ...(roles.length > 0
                  ? [
                      exists(
                        selectFrom('role_memberships')
                          .select('role_memberships.id')
                          .whereRef('role_memberships.user_id', '=', 'users.id')
                          .where('role_memberships.role_id', 'in', roles),
                      ),
                    ]
                  : []),
              ]),
        )
        .execute()
      return new Set(rows.map(({ id }) => id))
    },
  }
}

type PolicyJoin = Selectable<Tables['approval_policies']> & EmbeddedUser<'creator'>

const toPolicy = (row: PolicyJoin, approvers: Approvers): ApprovalPolicy => ({
  id: row.id,
  projectId: row.project_id,
  actionKey: row.action_key as ActionKey,
  conditions: JSON.parse(row.conditions),
  approvers,
  quorum: row.quorum,
  allowSelfApprove: row.allow_self_approve === 1,
  allowKeys: row.allow_keys === 1,
  expiresAfterHours: row.expires_after_hours,
  reapprovePercent: row.reapprove_percent,
  reapprovePeople: row.reapprove_people,
  emergencyRoles: JSON.parse(row.emergency_roles),
  enabled: row.enabled === 1,
  createdBy: readUser(row, 'creator'),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  version: row.version,
})

const fromPolicy = (policy: Omit<ApprovalPolicy, 'id'>): Omit<Selectable<Tables['approval_policies']>, 'id'> => ({
  project_id: policy.projectId,
  action_key: policy.actionKey,
  conditions: JSON.stringify(policy.conditions),
  quorum: policy.quorum,
  allow_self_approve: Number(policy.allowSelfApprove),
  allow_keys: Number(policy.allowKeys),
  expires_after_hours: policy.expiresAfterHours,
  reapprove_percent: policy.reapprovePercent,
  reapprove_people: policy.reapprovePeople,
  emergency_roles: JSON.stringify(policy.emergencyRoles),
  enabled: Number(policy.enabled),
  created_by_id: policy.createdBy.id,
  created_at: policy.createdAt,
  updated_at: policy.updatedAt,
  version: policy.version,
})
