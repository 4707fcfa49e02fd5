"""The site: accounts, teams, entries, contests, submissions, results."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "accounts",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("folded", sa.Text(), nullable=False),
        sa.Column("password", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("epoch", NUMBER, nullable=False),
        sa.Column("disabled", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
        sa.UniqueConstraint("folded", name=op.f("uq_accounts_folded")),
    )
    op.create_table(
        "tallies",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("span", NUMBER, nullable=False),
        sa.Column("count", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("key", "span", name=op.f("pk_tallies")),
    )
    op.create_table(
        "teams",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("folded", sa.Text(), nullable=False),
        sa.Column("house", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_teams")),
        sa.UniqueConstraint("folded", name=op.f("uq_teams_folded")),
    )
    op.create_table(
        "contests",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("title_zh", sa.Text(), nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        sa.Column("about_zh", sa.Text(), nullable=False),
        sa.Column("rulebook", sa.Text(), nullable=False),
        sa.Column("owner_id", NUMBER, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["accounts.id"], name=op.f("fk_contests_owner_id_accounts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contests")),
        sa.UniqueConstraint("slug", name=op.f("uq_contests_slug")),
    )
    op.create_table(
        "deeds",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("account_id", NUMBER, nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_deeds_account_id_accounts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deeds")),
    )
    op.create_table(
        "entries",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("team_id", NUMBER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("challenge", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_entries_team_id_teams")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_entries")),
        sa.UniqueConstraint("team_id", "name", name=op.f("uq_entries_team_id_name")),
    )
    op.create_table(
        "invitations",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("team_id", NUMBER, nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.Column("used_by", NUMBER, nullable=True),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_invitations_team_id_teams")),
        sa.ForeignKeyConstraint(["used_by"], ["accounts.id"], name=op.f("fk_invitations_used_by_accounts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitations")),
        sa.UniqueConstraint("digest", name=op.f("uq_invitations_digest")),
    )
    op.create_index(op.f("ix_invitations_team_id"), "invitations", ["team_id"], unique=False)
    op.create_table(
        "memberships",
        sa.Column("team_id", NUMBER, nullable=False),
        sa.Column("account_id", NUMBER, nullable=False),
        sa.Column("captain", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_memberships_account_id_accounts")),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_memberships_team_id_teams")),
        sa.PrimaryKeyConstraint("team_id", "account_id", name=op.f("pk_memberships")),
    )
    op.create_index(op.f("ix_memberships_account_id"), "memberships", ["account_id"], unique=False)
    op.create_table(
        "tokens",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("account_id", NUMBER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_tokens_account_id_accounts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("digest", name=op.f("uq_tokens_digest")),
    )
    op.create_index(op.f("ix_tokens_account_id"), "tokens", ["account_id"], unique=False)
    op.create_table(
        "phases",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("contest_id", NUMBER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("starts_at", sa.Double(), nullable=True),
        sa.Column("ends_at", sa.Double(), nullable=True),
        sa.Column("daily_limit", NUMBER, nullable=False),
        sa.Column("hidden_data", sa.Boolean(), nullable=False),
        sa.Column("published", sa.Boolean(), nullable=False),
        sa.Column("counts", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("data_about", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("revision", NUMBER, nullable=False),
        sa.ForeignKeyConstraint(["contest_id"], ["contests.id"], name=op.f("fk_phases_contest_id_contests")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_phases")),
        sa.UniqueConstraint("contest_id", "name", name=op.f("uq_phases_contest_id_name")),
    )
    op.create_table(
        "versions",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("entry_id", NUMBER, nullable=False),
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("package", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("filename", sa.Text(), nullable=False),
        sa.Column("size", NUMBER, nullable=False),
        sa.Column("about", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("by", NUMBER, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["by"], ["accounts.id"], name=op.f("fk_versions_by_accounts")),
        sa.ForeignKeyConstraint(["entry_id"], ["entries.id"], name=op.f("fk_versions_entry_id_entries")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_versions")),
        sa.UniqueConstraint("entry_id", "number", name=op.f("uq_versions_entry_id_number")),
    )
    op.create_table(
        "submissions",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("phase_id", NUMBER, nullable=False),
        sa.Column("team_id", NUMBER, nullable=False),
        sa.Column("version_id", NUMBER, nullable=False),
        sa.Column("by", NUMBER, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("job_id", NUMBER, nullable=False),
        sa.Column("disqualified", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["by"], ["accounts.id"], name=op.f("fk_submissions_by_accounts")),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_submissions_job_id_jobs")),
        sa.ForeignKeyConstraint(["phase_id"], ["phases.id"], name=op.f("fk_submissions_phase_id_phases")),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_submissions_team_id_teams")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_submissions_version_id_versions")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submissions")),
    )
    op.create_index(op.f("ix_submissions_job_id"), "submissions", ["job_id"], unique=False)
    op.create_index("ix_submissions_phase_team", "submissions", ["phase_id", "team_id", "created_at"], unique=False)
    op.create_index(op.f("ix_submissions_team_id"), "submissions", ["team_id"], unique=False)
    op.create_table(
        "results",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("submission_id", NUMBER, nullable=False),
        sa.Column("job_id", NUMBER, nullable=False),
        sa.Column("phase_id", NUMBER, nullable=False),
        sa.Column("team_id", NUMBER, nullable=False),
        sa.Column("rulebook", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("low", sa.Double(), nullable=True),
        sa.Column("high", sa.Double(), nullable=True),
        sa.Column("metrics", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("blocks", sa.JSON(), nullable=False),
        sa.Column("sandbox", sa.Text(), nullable=False),
        sa.Column("ranked", sa.Boolean(), nullable=False),
        sa.Column("current", sa.Boolean(), nullable=False),
        sa.Column("run", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["phase_id"], ["phases.id"], name=op.f("fk_results_phase_id_phases")),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name=op.f("fk_results_submission_id_submissions")
        ),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_results_team_id_teams")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_results")),
        sa.UniqueConstraint(
            "submission_id", "job_id", "rulebook", name=op.f("uq_results_submission_id_job_id_rulebook")
        ),
    )
    op.create_index("ix_results_board", "results", ["phase_id", "team_id"], unique=False)
    op.create_index(op.f("ix_results_submission_id"), "results", ["submission_id"], unique=False)


def downgrade() -> None:
    for table in (
        "results",
        "submissions",
        "versions",
        "phases",
        "tokens",
        "memberships",
        "invitations",
        "entries",
        "deeds",
        "contests",
        "teams",
        "tallies",
        "accounts",
    ):
        op.drop_table(table)
