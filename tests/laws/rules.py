"""The rules of docs/systems, by number, and the tests that hold them.

A rule stands in one of three places: its kernel is held to the oracle (`KERNELS`), tests are named
for it (`TESTS`), or it waits for a part that is not built (`WAITING`).
"""

from __future__ import annotations

KERNELS = {
    "A1": ("ciar",),
    "A4": ("should_promote",),
    "C1": ("retention",),
    "C2": ("retention",),
    "C6": ("retention_score",),
    "C11": ("spacing_factor", "reinforce_stability"),
    "C16": ("association_decay",),
    "H3": ("blend",),
    "H4": ("spread_neighbours",),
    "H6": ("damp",),
    "M4": ("weighted_sum",),
    "M5": ("recency_blend",),
    "M8": ("weibull_retention",),
    "O3": ("minmax_floor",),
    "O4": ("temporal_proximity",),
    "O11": ("kind_weight",),
    "O12": ("feedback_factor",),
    "H19": ("feedback_factor",),
    "O13": ("priority_factor",),
    "O14": ("floored_decay", "decision_rate"),
    "O15": ("thompson_boost",),
    "O17": ("consolidation_boost",),
    "O18": ("overlap_boost",),
    "O20": ("context_boost",),
    "O21": ("cluster_boost",),
    "R4": ("time_decay_boost",),
    "R6": ("depth_weight",),
    "R7": ("spread_weight",),
    "R8": ("stability_boost",),
    "R10": ("scan_priority",),
    "R12": ("downscale",),
    "R13": ("staleness",),
    "R16": ("signal",),
    "R17": ("replay_delta",),
}
"""Rule -> kernels, each a case of tests/kernels/test_against_oracles.py, or in test_whole_arrays.py."""

_MODEL = "engine/test_profiles_against_oracles.py::test_search_is_the_model"
_FINISHING = "search/test_results_left_out.py"
_SURE = "search/test_confidence.py"
_EXPANSION = "engine/test_expansion.py::test_links_bring_what_the_page_says"
_HISTORY = "engine/test_co_retrieval.py::test_a_history_of_searches_leaves_what_the_page_says"
_DEEP = "engine/test_deep_recall.py::test_what_comes_back_has_the_penalty_of_the_profile"
_REPEATED = "engine/test_repeated_queries.py"
_INGEST = "engine/test_ingest_links.py::test_a_batch_is_linked_and_raises_its_like"
_PAGES = "profiles/test_profiles.py::test_{}_reads_like_its_page"
_CACHE = "engine/test_response_cache.py"
_RERANK = "engine/test_rerank.py"
_STORE = "engine/test_profile_of_a_store.py"
_TIMES = "engine/test_times_in_questions.py"
_WEIGHS = "engine/test_questions_weigh.py"
_WHOLE = "engine/test_whole_pipelines.py::test_what_a_store_answers_and_keeps_is_what_the_pages_say"
_CYCLE = "dream/test_reverie_phases.py::test_a_cycle_is_what_the_page_says"
_ALONE = "dream/test_reverie_phases.py::test_each_phase_can_run_alone"
_BESIDE = "engine/test_dreams_beside_changes.py"
_PLAIN = "search/test_plain_profiles.py::test_scores_and_order_are_those_of_plain_python"
_FUSION = "scoring/test_fusion_against_oracles.py::test_{}"

TESTS = {
    "A2": ("kernels/test_worked_examples.py::test_ciar_reproduces_the_published_scenarios",),
    "A3": ("kernels/test_worked_examples.py::test_a_veto_is_a_veto",),
    "A4": ("engine/test_rescoring.py::test_staged_memories_of_a_high_score_are_consolidated",),
    "A5": ("kernels/test_whole_arrays.py::test_explain_ciar",),
    "A6": ("laws/test_laws.py::test_ciar_alone_refuses_a_creation_ahead_of_now",),
    "A7": ("profiles/test_ciar_presets.py::test_half_lives_can_be_read",),
    "A8": ("profiles/test_profiles.py::test_the_presets_of_ciar",),
    "A9": ("profiles/test_ciar_presets.py::test_the_sources_own_file",),
    "A10": (_PAGES.format("ciar"), _MODEL, _WHOLE),
    "A11": ("rescoring/test_comparison.py::test_a_file_is_compared_as_its_table",),
    "A12": (_MODEL, _WHOLE),
    "A13": ("engine/test_strengthening.py::test_what_a_search_returns_is_strengthened", _WHOLE),
    "C3": (f"{_STORE}::test_a_memory_without_a_stability_starts_as_the_profile_says", _WHOLE),
    "C4": (_DEEP, _PAGES.format("cognitive"), _MODEL, _WHOLE),
    "C5": (_FUSION.format("retention_weighted_union"), _WHOLE),
    "C6": (
        _DEEP,
        _MODEL,
        "profiles/test_profile.py::test_the_penalty_of_deep_recall_is_one_number",
        _WHOLE,
    ),
    "C7": (
        _DEEP,
        _MODEL,
        "engine/test_validity.py::test_what_is_found_is_what_c7_says",
        "engine/test_validity.py::test_which_kinds_expire_is_said_by_the_profile",
        "engine/test_validity.py::test_what_does_not_expire_stays_as_it_is",
        _WHOLE,
    ),
    "C8": (
        f"{_RERANK}::test_the_order_is_the_scores_where_it_has_not",
        "search/test_steps.py::test_the_order_of_a_reranker_before_links_is_kept",
        _WHOLE,
    ),
    "C9": (_EXPANSION, _WHOLE),
    "C10": (_EXPANSION, _WHOLE),
    "C11": (_HISTORY, "engine/test_strengthening.py::test_stability_follows_the_oracle", _WHOLE),
    "C12": (
        _HISTORY,
        "engine/test_co_retrieval.py::test_a_memory_becomes_core_and_a_cold_one_hot",
        _WHOLE,
    ),
    "C13": (_HISTORY, _WHOLE),
    "C14": (_EXPANSION, _WHOLE),
    "C15": ("engine/test_recall.py::test_the_trace_tells_every_stage_and_why_a_channel_is_absent",),
    "C16": (
        "engine/test_links.py::test_a_link_fades_from_the_last_co_retrieval_on_and_never_in_the_store",
        _WHOLE,
    ),
    "C17": (_INGEST, _WHOLE),
    "C18": (_INGEST, _WHOLE),
    "C19": (
        "dream/test_cooling.py::test_what_goes_cold_is_what_the_page_says",
        "dream/test_cooling.py::test_days_count_from_the_first_cycle_that_sees_it_at_its_floor",
        "engine/test_second_cycles.py::test_the_cycle_after_dates_a_summary_at_its_floor_and_no_other_does",
    ),
    "C20": ("dream/test_stubbing.py::test_what_is_cut_is_what_the_page_says",),
    "C21": (
        "dream/test_summarising.py::test_summaries_are_what_the_page_says",
        "dream/test_summarising.py::test_groups_are_of_exactly_five",
        "dream/test_summarising.py::test_a_summary_never_outranks_its_sources_by_its_own_newness",
    ),
    "C22": (
        "dream/test_conflicts.py::test_what_a_judge_says_is_done_as_the_page_says",
        "dream/test_conflicts.py::test_nothing_is_retired_by_likeness_alone",
    ),
    "H1": (
        _PAGES.format("the_house_profile"),
        _MODEL,
        f"{_TIMES}::test_a_time_brings_memories_that_no_word_does",
        _WHOLE,
    ),
    "H2": (_FUSION.format("blend"), _WHOLE),
    "H3": (
        _FUSION.format("blend"),
        "engine/test_coverage.py::test_relevance_is_the_oracles",
        "engine/test_coverage.py::test_what_no_text_holds_counts_once_as_if_one_did",
        _MODEL,
        _WHOLE,
    ),
    "H4": ("engine/test_session_neighbours.py::test_results_are_the_oracle", _WHOLE),
    "H5": (
        f"{_STORE}::test_a_new_store_takes_k1_and_b_from_the_profile_and_keeps_them",
        f"{_STORE}::test_a_new_store_takes_the_half_length_from_the_profile_and_keeps_it",
        f"{_STORE}::test_the_half_length_is_in_the_scores_of_every_opening",
        f"{_STORE}::test_a_new_store_takes_the_numbers_of_titles_from_the_profile_and_keeps_them",
        "lexical/test_structured_queries.py::test_any_history_and_query_gives_what_the_oracle_gives",
        "lexical/test_laws.py::test_any_history_scores_as_the_oracle_to_the_bit",
        "evaluation/test_tuning.py::test_what_helps_is_found_and_holds_where_it_was_not_looked_for",
        "evaluation/test_tuning.py::test_without_a_gain_beyond_chance_nothing_changes",
    ),
    "H6": (_MODEL, _WHOLE),
    "H7": (
        _PAGES.format("the_house_profile"),
        _EXPANSION,
        _HISTORY,
        _DEEP,
        _WHOLE,
        f"{_FINISHING}::test_the_house_abstains_only_where_both_are_missing",
        f"{_REPEATED}::test_one_session_moves_nothing_by_asking_again",
        f"{_REPEATED}::test_many_sessions_lift_nothing_above_what_is_relevant",
    ),
    "H8": (
        "dream/test_reverie_by_hand.py::test_the_profiles_dream_as_the_pages_say",
        "dream/test_reverie_by_hand.py::test_the_house_takes_nothing_away_for_age_or_for_being_weak",
    ),
    "H9": (_MODEL, _WHOLE, "texts/test_asking.py::test_the_share_is_the_oracles"),
    "H10": (
        f"{_TIMES}::test_the_house_damps_what_lies_outside_of_the_time",
        "query/test_dates.py::test_times_as_people_say_them",
        _WHOLE,
    ),
    "H13": (
        "query/test_asked_time.py::test_a_text_names_a_time_as_the_oracle",
        "query/test_asked_time.py::test_queries_as_people_ask_them",
        "engine/test_asked_time.py::test_what_names_no_time_is_damped",
    ),
    "H14": (
        _MODEL,
        _WHOLE,
        "engine/test_word_pairs.py::test_relevance_is_the_oracles",
        "engine/test_word_pairs.py::test_a_scope_has_the_scores_of_a_store_of_its_own",
    ),
    "H17": (
        "engine/test_word_shares.py::test_relevance_is_the_oracles",
        "engine/test_word_shares.py::test_a_scope_has_the_scores_of_a_store_of_its_own",
        "engine/test_word_shares.py::test_only_english_has_function_words",
    ),
    "H18": (
        "engine/test_word_shares.py::test_relevance_is_the_oracles",
        "engine/test_word_shares.py::test_a_word_late_in_a_long_query_counts_for_less",
    ),
    "H20": (
        "engine/test_typos.py::test_relevance_is_the_oracles",
        "engine/test_typos.py::test_a_scope_has_the_scores_of_a_store_of_its_own",
        "engine/test_typos.py::test_the_stems_are_the_oracles",
        "ray/test_rounds.py::test_words_one_slip_away_are_those_of_all_shards",
    ),
    "H21": (
        "query/test_asked_by_time.py::test_whether_a_query_asks_by_the_time_alone",
        "query/test_asked_by_time.py::test_relevance_is_that_of_the_page",
    ),
    "H19": (
        "engine/test_question_feedback.py::test_results_are_those_of_the_page",
        "engine/test_question_feedback.py::test_words_stand_in_where_there_is_no_vector",
        "engine/test_question_feedback.py::test_any_verdicts_give_what_the_oracle_gives",
    ),
    "H11": (
        _MODEL,
        _WHOLE,
        "scoring/test_trust.py::test_the_score_is_multiplied_by_the_trust",
        "scoring/test_trust.py::test_who_may_add_takes_few_places",
    ),
    "H12": (
        "conflicts/test_model.py::test_the_confidence_is_that_of_the_page",
        "conflicts/test_ranking.py::test_results_are_those_of_the_page",
        _WHOLE,
    ),
    "H15": (
        "dream/test_budget.py::test_what_stays_is_what_the_page_says",
        "dream/test_budget.py::test_the_worth_is_what_the_page_says",
    ),
    "H16": (
        "dream/test_changed_facts.py::test_what_a_judge_says_is_done_as_the_page_says",
        "dream/test_changed_facts.py::test_pairs_are_those_of_conflicts",
    ),
    "M1": (_FUSION.format("weighted_sum_and_mean"),),
    "M2": (_FUSION.format("weighted_sum_and_mean"),),
    "M3": ("engine/test_explanations.py::test_a_weighted_sum_shows_what_each_part_adds", _WHOLE),
    "M4": (_MODEL, _WHOLE),
    "M6": (_FUSION.format("weighted_sum_and_mean"),),
    "M7": ("profiles/test_profile.py::test_weights_are_brought_to_the_sum_1",),
    "M8": (
        _MODEL,
        "engine/test_profiles_against_oracles.py::test_a_query_without_a_word_finds_what_is_far_from_it",
        _WHOLE,
    ),
    "M9": (_PAGES.format("mnemosyne"), _WHOLE),
    "P1": (_PLAIN,),
    "P2": (_PLAIN,),
    "P3": (_PLAIN,),
    "O4": (f"{_TIMES}::test_the_temporal_channel_is_the_model", _WHOLE),
    "O21": ("engine/test_cluster.py::test_the_cluster_is_that_of_the_ten_best_before_it", _WHOLE),
    "O22": (
        f"{_TIMES}::test_memories_out_of_the_time_are_weighed_by_their_own_date",
        f"{_TIMES}::test_every_call_takes_a_soft_range",
        _WHOLE,
    ),
    "O2": (
        _PAGES.format("omega"),
        f"{_WEIGHS}::test_a_keyword_like_question_is_asked_of_words_alone_and_is_not_embedded",
        _WHOLE,
    ),
    "O3": (_MODEL, _WHOLE),
    "O7": (_FUSION.format("reciprocal_rank"), _WHOLE),
    "O8": (
        "profiles/test_profiles.py::test_the_presets_of_omega",
        f"{_WEIGHS}::test_fusion_weighs_by_hint_and_intent",
        f"{_WEIGHS}::test_the_single_kind_that_is_asked_for_is_the_hint",
        _WHOLE,
    ),
    "O9": (
        "query/test_intent.py::test_each_sign_of_the_table_makes_a_question_keyword_like",
        "query/test_intent.py::test_signs_are_the_oracles",
        "query/test_intent.py::test_intents_as_the_page_lists_them",
        f"{_WEIGHS}::test_fusion_weighs_by_hint_and_intent",
        _WHOLE,
    ),
    "O6": ("engine/test_query_expansion.py::test_the_largest_over_the_variants_stands",),
    "O10": (
        "query/test_compound.py::test_questions_split_at_conjunctions_and_clauses",
        "query/test_compound.py::test_questions_that_stay_whole",
        "query/test_compound.py::test_parts_are_the_oracles",
        "engine/test_compound_questions.py::test_parts_are_merged_by_the_best_score_and_gain_by_each_further",
        _WHOLE,
    ),
    "O12": ("engine/test_verdicts.py::test_three_bad_verdicts_leave_all_results", _WHOLE),
    "O15": (
        "engine/test_verdicts.py::test_ten_verdicts_on_a_kind_weigh_all_its_memories",
        "engine/test_verdicts.py::test_draws_are_those_of_the_beta_distribution",
        _WHOLE,
    ),
    "O18": (_MODEL, "texts/test_memory_texts.py::test_words_are_found_as_the_oracle_says", _WHOLE),
    "O16": (
        "engine/test_context.py::test_the_situations_are_those_of_the_page",
        "engine/test_context.py::test_what_belongs_to_the_context_is_boosted_as_the_page_says",
        "engine/test_context.py::test_a_situation_says_how_near_a_memory_must_be",
        _WHOLE,
    ),
    "O19": (f"{_WEIGHS}::test_preferences_count_more_where_one_is_asked_for", _WHOLE),
    "O23": (_WHOLE,),
    "O24": (_EXPANSION, _WHOLE),
    "O25": (
        f"{_RERANK}::test_scores_multiply_by_their_ranks_where_the_profile_has_the_factor",
        "models/test_judging.py::test_scores_do_what_the_pages_say",
        _WHOLE,
    ),
    "O1": (
        "search/test_short_cuts.py::test_a_keyword_like_question_is_answered_by_what_is_almost_itself",
        "texts/test_hot_set.py::test_hot_memories_join_by_the_maximum",
        _WHOLE,
    ),
    "O5": (
        "search/test_short_cuts.py::test_a_strong_first_hit_decides_without_fusion_and_metadata",
        _WHOLE,
    ),
    "O26": (_MODEL, f"{_FINISHING}::test_of_two_alike_the_first_stays", _WHOLE),
    "O27": (_MODEL, _WHOLE),
    "O28": (_MODEL, f"{_SURE}::test_confidence_and_the_choice_are_the_pages", _WHOLE),
    "O29": (_MODEL, f"{_SURE}::test_scores_after_normalisation_are_those_of_the_page", _WHOLE),
    "O30": (
        f"{_CACHE}::test_a_history_of_questions_is_answered_as_the_page_says",
        f"{_CACHE}::test_any_write_makes_it_miss",
        f"{_CACHE}::test_a_hit_strengthens_and_strengthening_does_not_make_it_miss",
        _WHOLE,
    ),
    "O31": (
        "dream/test_forgetting.py::test_what_is_forgotten_is_what_the_page_says",
        "dream/test_forgetting.py::test_worked_values",
    ),
    "O32": (_MODEL, _FUSION.format("weighted_sum_and_mean"), _WHOLE),
    "O33": (_PAGES.format("omega"), _WHOLE),
    "R1": ("engine/test_recall_laws.py::test_the_lexical_index_is_exhaustive_bm25", _WHOLE),
    "R2": ("engine/test_recall_laws.py::test_each_channel_gives_its_hundred_best", _WHOLE),
    "R3": (_FUSION.format("reciprocal_rank"), _PAGES.format("reverie")),
    "R5": (_MODEL, _WHOLE),
    "R9": ("engine/test_recall_laws.py::test_fresh_memories_rank_as_without_lifecycle",),
    "R10": (
        _CYCLE,
        _ALONE,
        "dream/test_reverie_phases.py::test_only_the_most_urgent_are_asked_for_their_novelty",
    ),
    "R11": (
        _CYCLE,
        "dream/test_reverie_by_hand.py::test_a_replay_gives_what_its_peers_and_age_say",
        "dream/test_reverie_by_hand.py::test_many_of_a_session_are_linked_within_bounds",
    ),
    "R12": (
        _CYCLE,
        _ALONE,
        "engine/test_second_cycles.py::test_a_second_cycle_at_once_only_downscales",
        "engine/test_second_cycles.py::test_what_a_budget_left_is_taken_by_the_next",
    ),
    "R13": (
        _CYCLE,
        _ALONE,
        "dream/test_reverie_by_hand.py::test_of_what_is_said_twice_the_newest_stays",
    ),
    "R14": (
        _CYCLE,
        _ALONE,
        "engine/test_remember.py::test_a_recalled_memory_is_staged_again_when_its_text_is_another",
    ),
    "R15": (_CYCLE, _ALONE, "dream/test_reverie_by_hand.py::test_depth_follows_use"),
    "R18": (
        "dream/test_schedule.py::test_when_a_cycle_is_due",
        "dream/test_schedule.py::test_time_by_the_engines_clock_and_sessions_are_reasons",
        "dream/test_schedule.py::test_new_memories_are_a_reason",
    ),
    "R19": (
        "engine/test_dreaming.py::test_a_cycle_undone_was_never_there",
        "engine/test_dreaming.py::test_a_dry_run_changes_nothing",
        "engine/test_dreaming.py::test_what_the_plan_tells_is_what_is_done",
        f"{_BESIDE}::test_what_changed_since_the_plan_stays",
        f"{_BESIDE}::test_a_group_of_which_one_changed_since_is_not_half_replaced",
        "engine/test_undoing_dreams.py::test_an_undoing_leaves_what_changed_since_and_tells",
        "engine/test_undoing_dreams.py::test_the_last_thirty_can_be_undone",
        "engine/test_restoring.py::test_what_cycles_took_away_is_found_again",
        "crash/test_dream_kills.py::test_kill_9_leaves_no_half_of_a_cycle",
        "dream/test_distributions.py::test_the_counts_are_those_of_the_memories",
        "dream/test_drift.py::test_the_figures_are_those_of_plain_counts",
    ),
    "R20": ("engine/test_strengthening.py::test_stability_follows_the_oracle", _WHOLE),
}
"""Rule -> tests, under tests/."""

WAITING: dict[str, str] = {}
"""What a rule waits for -> rules."""
