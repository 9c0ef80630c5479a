import type { Migration } from './migration.ts'

/** Approval policies, change requests and the decisions about them. */
export const approvals: Migration = {
  version: 20,
  name: 'approvals',
  async up({ db, text, integer, idType, id, run }) {
    await db.schema
      .createTable('approval_policies')
      .addColumn('id', idType, id)
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('action_key', text, c => c.notNull())
      .addColumn('conditions', text, c => c.notNull())
      .addColumn('quorum', integer, c => c.notNull())
      .addColumn('allow_self_approve', integer, c => c.notNull())
      .addColumn('expires_after_hours', integer, c => c.notNull())
      .addColumn('enabled', integer, c => c.notNull())
      .addColumn('created_by_id', integer, c => c.notNull().references('users.id'))
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('updated_at', text, c => c.notNull())
      .addColumn('version', integer, c => c.notNull())
      .execute()
    await run('create index approval_policies_by_project on approval_policies (project_id, id)')

    await db.schema
      .createTable('approval_policy_approvers')
      .addColumn('id', idType, id)
      .addColumn('policy_id', integer, c => c.notNull().references('approval_policies.id').onDelete('cascade'))
      .addColumn('user_id', integer, c => c.references('users.id').onDelete('cascade'))
      .addColumn('role_id', text, c => c.references('roles.id').onDelete('cascade'))
      .execute()
    await run('create index approval_policy_approvers_by_policy on approval_policy_approvers (policy_id, id)')

    await db.schema
      .createTable('change_requests')
      .addColumn('id', idType, id)
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('kind', text, c => c.notNull())
      .addColumn('flag_id', integer, c => c.references('flags.id').onDelete('cascade'))
      .addColumn('cohort_id', integer, c => c.references('cohorts.id').onDelete('cascade'))
      .addColumn('action_key', text, c => c.notNull())
      .addColumn('state', text, c => c.notNull())
      .addColumn('base_version', integer)
      .addColumn('base', text, c => c.notNull())
      .addColumn('patch', text, c => c.notNull())
      .addColumn('content_hash', text, c => c.notNull())
      .addColumn('title', text, c => c.notNull())
      .addColumn('reason', text, c => c.notNull())
      .addColumn('impact', text)
      .addColumn('requester_id', integer, c => c.notNull().references('users.id'))
      .addColumn('key_label', text)
      .addColumn('is_by_key', integer, c => c.notNull())
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('updated_at', text, c => c.notNull())
      .addColumn('expires_at', text, c => c.notNull())
      .addColumn('apply_at', text)
      .addColumn('due_at', text)
      .addColumn('applied_at', text)
      .addColumn('applied_version', integer)
      .addColumn('applied_by_id', integer, c => c.references('users.id'))
      .addColumn('failure', text)
      .addColumn('emergency_reason', text)
      .addColumn('review_note', text)
      .addColumn('reviewed_by_id', integer, c => c.references('users.id'))
      .addColumn('reviewed_at', text)
      .addColumn('version', integer, c => c.notNull())
      .execute()
    await run('create index change_requests_by_project on change_requests (project_id, id)')
    await run('create index change_requests_by_flag on change_requests (flag_id, id)')
    await run('create index change_requests_by_cohort on change_requests (cohort_id, id)')
    // `due_at`: when the job has to look at it again. Null once nothing is left to do.
    await run('create index change_requests_due on change_requests (due_at, id) where due_at is not null')

    await db.schema
      .createTable('change_request_decisions')
      .addColumn('id', idType, id)
      .addColumn('change_request_id', integer, c => c.notNull().references('change_requests.id').onDelete('cascade'))
      .addColumn('user_id', integer, c => c.notNull().references('users.id'))
      .addColumn('decision', text, c => c.notNull())
      .addColumn('reason', text, c => c.notNull())
      .addColumn('content_hash', text, c => c.notNull())
      .addColumn('impact', text)
      .addColumn('decided_at', text, c => c.notNull())
      .execute()
    await run(
      'create unique index change_request_decisions_once on change_request_decisions (change_request_id, user_id, content_hash)',
    )
  },
}
