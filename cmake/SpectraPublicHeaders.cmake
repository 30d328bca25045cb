# The public headers: what users of the installed library may include, and all that is installed. Sources in src/
# write #include "dyson/law/theory.hpp"; users write #include <jacobian_spectra/dyson/law/theory.hpp>. So each public
# header is copied to <build>/include/jacobian_spectra with its includes rewritten. Examples, the API reference and the
# installation all use the copies, and none of them sees a private header.
#
# The list must be closed: whatever a public header includes is public as well, or comes from the standard library or
# Eigen (Torch for the second list). This is checked here.
#
# The same file is the script that makes the copies without a build:
# cmake -DSOURCE_DIR=… -DOUTPUT_DIR=… -P SpectraPublicHeaders.cmake

if(CMAKE_SCRIPT_MODE_FILE)
    cmake_minimum_required(VERSION 3.25)
endif()

set(SPECTRA_PUBLIC_HEADERS
    random/stream.hpp
    spectrum/certificate.hpp
    spectrum/cumulative.hpp
    spectrum/density.hpp
    spectrum/metrics.hpp
    spectrum/spectrum.hpp
    mixers/cayley.hpp
    mixers/cayley_hybrid.hpp
    mixers/defects.hpp
    mixers/family.hpp
    mixers/gaussian.hpp
    mixers/grassmann.hpp
    mixers/householder.hpp
    mixers/mixer.hpp
    mixers/orthogonal.hpp
    mixers/permutation.hpp
    mixers/raw.hpp
    mixers/registry.hpp
    mixers/sinkhorn.hpp
    mixers/spectral_sphere.hpp
    network/activation.hpp
    network/branch_law_file.hpp
    network/connection.hpp
    network/mean_field.hpp
    network/mixer_file.hpp
    network/model_file.hpp
    network/network.hpp
    network/number_files.hpp
    base/stop.hpp
    dyson/exact/atoms.hpp
    dyson/exact/moments.hpp
    dyson/law/outlier.hpp
    dyson/law/theory.hpp
    dyson/law/unresolved_mass.hpp
    dyson/ask/depth_limit.hpp
    dyson/ask/mixer_average.hpp
    dyson/ask/quantiles.hpp
    dyson/ask/sensitivity.hpp
    montecarlo/sample/precision.hpp
    montecarlo/sample/slopes.hpp
    montecarlo/run/statistics.hpp
    montecarlo/run/simulation.hpp
    montecarlo/run/simulate.hpp
    montecarlo/finite_size.hpp
    weightfile/dtype.hpp
    weightfile/tensor.hpp
    weightfile/tensor_file.hpp
    weightfile/value.hpp
    layouts/input_point.hpp
    layouts/layout_map.hpp
    layouts/layouts.hpp
    layouts/measurement.hpp
    layouts/mixer_table.hpp
    layouts/stack.hpp
    validation/alignment.hpp validation/leading_triplets.hpp
    validation/prediction.hpp
    validation/requirements.hpp
    validation/validation.hpp
    plot/figure.hpp
    report/density_figure.hpp
    report/depth_figure.hpp
    report/json.hpp
    report/report.hpp
    report/result_file.hpp
    report/result_format.hpp
    report/source.hpp
    report/stored_report.hpp
    report/terminal.hpp
    report/validation_figure.hpp
    report/validation_report.hpp
    report/runs_file.hpp
    report/table.hpp
    study/analysis.hpp
    study/build_network.hpp
    study/compare.hpp
    study/depth_limit.hpp
    study/doubts.hpp
    study/figure.hpp
    study/figure_request.hpp
    study/figures/figures.hpp
    study/grid.hpp
    study/invocation.hpp
    study/observer.hpp
    study/output_files.hpp
    study/request.hpp
    study/sweep.hpp
    study/validate.hpp
    study/validate_request.hpp
    tasks/arc_file.hpp
    tasks/baselines.hpp
    tasks/dataset.hpp
    tasks/grid.hpp
    tasks/grid_rules.hpp
    tasks/pass_at_k.hpp
    tasks/tasks.hpp
    tasks/tokeniser.hpp)

# Those of the component train, which need Torch: installed where it was found.
set(SPECTRA_PUBLIC_TORCH_HEADERS
    linalg/golub_kahan.hpp
    linalg/singular_triplets.hpp
    validation/sequence_alignment.hpp
    jacobian/jacobian.hpp
    jacobian/jacobian_law.hpp
    jacobian/script_module.hpp
    jacobian/torch.hpp
    train/batches.hpp
    train/data_parallel.hpp
    train/learner.hpp
    train/make_learner.hpp
    train/measure.hpp
    train/models/connection.hpp
    train/models/reflection.hpp
    train/models/tiny_recursive.hpp
    train/models/transformer.hpp
    train/modules/cayley_adam.hpp
    train/modules/mixer.hpp
    train/modules/mixer_options.hpp
    train/optimiser.hpp
    train/trainer.hpp
    train/training_log.hpp)

# Appends to the list `result` what a header includes and may not: `public` are the headers it may, `packages` the
# folders of other libraries' headers. Headers of the standard library have neither a folder nor an extension.
function(_spectra_check_includes source_dir header public packages result)
    set(out ${${result}})
    file(STRINGS "${source_dir}/${header}" lines REGEX "^[ \t]*#[ \t]*include[ \t]")
    foreach(line IN LISTS lines)
        if(line MATCHES "include[ \t]+\"([^\"]+)\"")
            if(NOT CMAKE_MATCH_1 IN_LIST public)
                list(APPEND out "${header} is public and includes ${CMAKE_MATCH_1}, which is not")
            endif()
        elseif(line MATCHES "include[ \t]+<([^>]+)>")
            set(path "${CMAKE_MATCH_1}")
            string(REGEX REPLACE "/.*" "" package "${path}")
            if(path MATCHES "[/.]" AND NOT package IN_LIST packages)
                list(APPEND out "${header} is public and includes <${path}>, which users may not have")
            endif()
        endif()
    endforeach()
    set(${result} ${out} PARENT_SCOPE)
endfunction()

# spectra_write_public_headers(SOURCE_DIR OUTPUT_DIR): checks the lists and brings OUTPUT_DIR/jacobian_spectra up to
# date with them. Files that have not changed are left alone, so that nothing that includes them is compiled again.
function(spectra_write_public_headers source_dir output_dir)
    set(all ${SPECTRA_PUBLIC_HEADERS} ${SPECTRA_PUBLIC_TORCH_HEADERS})
    set(complaints)
    foreach(header IN LISTS all)
        if(NOT EXISTS "${source_dir}/${header}")
            list(APPEND complaints "${header} is public, but there is no such file")
        elseif(header IN_LIST SPECTRA_PUBLIC_HEADERS)
            _spectra_check_includes("${source_dir}" ${header} "${SPECTRA_PUBLIC_HEADERS}" "Eigen" complaints)
        else()
            _spectra_check_includes("${source_dir}" ${header} "${all}" "Eigen;torch" complaints)
        endif()
    endforeach()
    if(complaints)
        list(JOIN complaints "\n  " text)
        message(FATAL_ERROR "public headers (cmake/SpectraPublicHeaders.cmake):\n  ${text}")
    endif()

    file(GLOB_RECURSE stale RELATIVE "${output_dir}/jacobian_spectra" "${output_dir}/jacobian_spectra/*")
    foreach(header IN LISTS all)
        list(REMOVE_ITEM stale ${header})
        set(copy "${output_dir}/jacobian_spectra/${header}")
        file(READ "${source_dir}/${header}" text)
        if(NOT text MATCHES "/// [\\]file\n/// ")
            message(FATAL_ERROR "${header} is public, and has no \\file comment that says what it is for")
        endif()
        string(REGEX REPLACE "(#[ \t]*include[ \t]+\")" "\\1jacobian_spectra/" text "${text}")
        set(present "")
        if(EXISTS "${copy}")
            file(READ "${copy}" present)
        endif()
        if(NOT "x${present}" STREQUAL "x${text}")
            file(WRITE "${copy}" "${text}")
        endif()
    endforeach()
    foreach(header IN LISTS stale)
        file(REMOVE "${output_dir}/jacobian_spectra/${header}")
    endforeach()
endfunction()

if(CMAKE_SCRIPT_MODE_FILE AND CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
    spectra_write_public_headers("${SOURCE_DIR}" "${OUTPUT_DIR}")
    return()
endif()

set(SPECTRA_PUBLIC_INCLUDE_DIR "${PROJECT_BINARY_DIR}/include")
spectra_write_public_headers("${PROJECT_SOURCE_DIR}/src" "${SPECTRA_PUBLIC_INCLUDE_DIR}")
# An edited header is copied again.
list(TRANSFORM SPECTRA_PUBLIC_HEADERS PREPEND "${PROJECT_SOURCE_DIR}/src/" OUTPUT_VARIABLE _spectra_public_sources)
list(TRANSFORM SPECTRA_PUBLIC_TORCH_HEADERS PREPEND "${PROJECT_SOURCE_DIR}/src/" OUTPUT_VARIABLE _spectra_torch_sources)
set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    ${_spectra_public_sources} ${_spectra_torch_sources})
