import type { PageOf, Window } from '../../../pagination.ts'
import type { ApprovalPolicy, Approvers } from './policy.ts'

export interface PolicyFilter {
  readonly actionKey?: string
  readonly enabled?: boolean
}

export interface NamingPolicy extends Pick<ApprovalPolicy, 'id' | 'actionKey'> {
  readonly projectName: string
}

export interface PolicyStore {
  create(policy: Omit<ApprovalPolicy, 'id'>): Promise<ApprovalPolicy>
  /** Throws `StaleWrite` unless the version is exactly one above the stored one. */
  save(policy: ApprovalPolicy): Promise<void>
  remove(policyId: number): Promise<void>
  find(projectId: number, policyId: number): Promise<ApprovalPolicy | undefined>
  /** Newest first. */
  list(projectId: number, filter: PolicyFilter, window: Window): Promise<PageOf<ApprovalPolicy>>
  /** The enabled policies of a project. */
  listEnabled(projectId: number): Promise<readonly ApprovalPolicy[]>
  count(projectId: number): Promise<number>
  /** Policies of the organization, disabled ones too, that name the role: whose members approve or break the glass. */
  listNaming(organizationId: string, roleId: string): Promise<readonly NamingPolicy[]>
  /** Ids of the active members who can approve now: named, or in a named role; every admin when no one is named. */
  eligible(organizationId: string, approvers: Approvers): Promise<ReadonlySet<number>>
}
